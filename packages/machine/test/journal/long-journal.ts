import fc from "fast-check";
import { conversationMachine, type Entry, type Limits } from "../../src/index.ts";
import { lastTurns } from "../../src/policies.ts";
import { calling, Talk } from "../talk.ts";

/** A change of a thread, and the use of its snapshot afterwards. A `pick` is taken modulo the number of choices. */
export interface Edit {
  readonly edit: "turns" | "rounds" | "annotate" | "truncate" | "move" | "pin" | "open" | "append";
  readonly count: number;
  readonly pick: number;
  readonly afterwards: "nothing" | "save" | "fail" | "reopen" | "fold";
}

export const edits: fc.Arbitrary<readonly Edit[]> = fc.array(
  fc.record({
    edit: fc.oneof(
      { weight: 3, arbitrary: fc.constant("turns" as const) },
      fc.constantFrom("rounds", "annotate", "truncate", "move", "pin", "open", "append"),
    ),
    count: fc.oneof(fc.integer({ min: 1, max: 70 }), fc.constantFrom(31, 32, 33, 400)),
    pick: fc.nat(),
    afterwards: fc.constantFrom("nothing", "save", "fail", "reopen", "fold"),
  }),
  { minLength: 3, maxLength: 14 },
);

/** Returns the entries of a thread with these changes; the last entry of each has its edit. */
export const editedJournal = (
  list: readonly Edit[],
  limits: Limits = {},
): readonly { readonly entry: Entry; readonly edit: Edit | null }[] => {
  const talk = new Talk(conversationMachine({ tools: [{ name: "lookup" }], policy: lastTurns(1), limits }));
  const entries: { entry: Entry; edit: Edit | null }[] = [{ entry: talk.beginning, edit: null }];
  for (const edit of list) {
    for (const entry of happened(talk, edit)) entries.push({ entry, edit: null });
    const last = entries.at(-1);
    if (last !== undefined) last.edit = edit;
  }
  return entries;
};

const happened = (talk: Talk, edit: Edit): readonly Entry[] => {
  const entries: Entry[] = [];
  const tell = (event: Parameters<Talk["tell"]>[0]): void => void entries.push(talk.tell(event).entry);
  const { turns } = talk.state.context.conversation;
  if (talk.state.context.open !== null) entries.push(talk.reply("at last").entry);
  switch (edit.edit) {
    case "turns":
      for (let turn = 0; turn < edit.count; turn++) {
        entries.push(talk.ask(`question ${turn}`).entry, talk.reply(`answer ${turn} ${"x".repeat(turn)}`).entry);
      }
      break;
    case "rounds":
      entries.push(talk.ask("many rounds").entry);
      for (let round = 0; round < edit.count; round++) {
        entries.push(talk.reply(calling("lookup", "lookup")).entry, talk.result(1, "{}").entry);
        entries.push(talk.result(0, null).entry);
      }
      entries.push(talk.reply("done").entry);
      break;
    case "open":
      entries.push(talk.ask("an open turn").entry, talk.reply(calling("lookup")).entry, talk.result(0, "1").entry);
      break;
    case "append":
      tell({
        type: "message.appended",
        message: { role: "user", content: "by the way", metadata: { pick: edit.pick } },
      });
      break;
    case "annotate":
      if (turns.length > 0) tell({ type: "turn.annotated", turn: 1 + (edit.pick % turns.length), name: "n", value: 1 });
      break;
    case "truncate":
      if (turns.length > 0) tell({ type: "answer.truncated", turn: 1 + (edit.pick % turns.length), characters: 3 });
      break;
    case "move":
      tell({ type: "head.moved", to: edit.pick % (turns.length + 1) });
      break;
    case "pin":
      if (turns.length > 0) tell({ type: "checkpoint.named", name: `c${edit.pick % 3}` });
      break;
  }
  return entries;
};
