import { createHost, memoryStore } from "@colloquy/host";
import { type Entry, messagesOf } from "@colloquy/machine";
import { randomIds, systemClock } from "@colloquy/runtime-node";
import { beforeAll, describe, expect, test } from "vitest";
import { type Had, judgeTabs } from "../../../../proof/chaos/tabs/judge.ts";
import { calledBy, machineOf, outcomeOf, resultOf, toolsOf } from "../../../../proof/chaos/story/script.ts";
import { threadId } from "../../../../proof/chaos/tabs/talk.ts";

const kinds = ["plain", "charge", "lookup"] as const;
const asks = kinds.map((kind, index) => ({ askId: `ask-${index + 1}`, input: `${kind} ask-${index + 1}` }));

/** Records a conversation of one tab with a host in memory. */
const conversation = async (): Promise<Had> => {
  const store = memoryStore({ clock: systemClock });
  const performed: Had["performed"][number][] = [];
  let seq = -1;
  const note = (what: string, id: string): void => void performed.push({ tab: 1, what, id, seq, at: performed.length });
  const tools = toolsOf(async (name, { idempotencyKey: id }) => {
    note(name, id);
    return resultOf(name);
  });
  const host = createHost({
    machine: machineOf(),
    tools,
    store,
    clock: systemClock,
    ids: randomIds,
    observers: [{ entry: (entry) => (seq = entry.seq) }],
    llm: async (call) => {
      note("model", call.id);
      return outcomeOf(calledBy(call));
    },
  });
  const endings: Had["endings"][number][] = [];
  const shown: Had["shown"][number][] = [];
  for (const { askId, input } of asks) {
    const handle = host.ask(input, { threadId, askId });
    for await (const part of handle) shown.push({ tab: 1, askId, part });
    const { turn, text } = await handle;
    endings.push({ askId, ending: { type: "answered", turn, text } });
  }
  const state = await host.thread(threadId).state();
  await host.close();
  const journal = await store.read(threadId);
  const messages = JSON.stringify(state === null ? [] : messagesOf(state));
  return {
    journal,
    again: journal,
    seen: [{ messages, journal }],
    asked: new Map(asks.map(({ askId, input }) => [askId, input])),
    acknowledged: new Set(asks.map(({ askId }) => askId)),
    endings,
    shown,
    performed,
    gone: new Map(),
    hasStalled: false,
  };
};

describe("the judge of tabs", () => {
  let had: Had;

  beforeAll(async () => {
    had = await conversation();
  });

  const problemsOf = (changes: Partial<Had>): string => judgeTabs({ ...had, ...changes }).join("\n");

  test("finds nothing wrong with what is right, nor with a call that is made again for a tab that is gone", () => {
    expect(problemsOf({})).toBe("");
    const first = had.performed.slice(0, 1).map((call) => ({ ...call, tab: 0, at: -2 }));
    expect(problemsOf({ performed: [...first, ...had.performed], gone: new Map([[0, -1]]) })).toBe("");
  });

  test("catches a call that is made again for a tab that is there, and a once-only tool that ran twice", () => {
    const again = (what: string): Had["performed"] =>
      had.performed.flatMap((call) => (call.what === what ? [call, call] : [call]));
    expect(problemsOf({ performed: again("model") })).toMatch(
      /tab 1 called model for .*, which tab 1 had called and is there/,
    );
    expect(problemsOf({ performed: again("charge"), gone: new Map([[1, -1]]) })).toMatch(/ran 2 times/);
  });

  test("catches a call whose answer is journalled", () => {
    const late = had.performed.map((call, index) => (index === 0 ? { ...call, seq: call.seq + 1 } : call));
    expect(problemsOf({ performed: late })).toMatch(/which does not ask for it/);
  });

  test("catches an ask that was acknowledged and is lost, and an entry that is there twice", () => {
    const more = { asked: new Map([...had.asked, ["ask-9", "plain ask-9"]]), acknowledged: new Set(["ask-9"]) };
    expect(problemsOf(more)).toMatch(/ask-9 was acknowledged, and is lost/);
    // Cast: the host wrote these entries.
    const entries = had.journal as readonly Entry[];
    const twice = [...entries, ...entries.slice(-1)].map((entry, seq) => ({ ...entry, seq }));
    expect(problemsOf({ journal: twice })).not.toBe("");
  });

  test("catches tabs that show another conversation, or another text, and an ask that is journalled again", () => {
    expect(problemsOf({ seen: [...had.seen, { messages: "[]", journal: had.journal }] })).toMatch(
      /2 different conversations/,
    );
    expect(problemsOf({ again: [...had.journal, {}] })).toMatch(/asking again journalled 1 entries/);
    const delta = { type: "text.delta", turn: 1, step: 1, attempt: 1, text: "what nobody said" } as const;
    const end = had.shown.findIndex(({ part }) => part.type === "turn.ended");
    const other = had.shown.toSpliced(end, 0, { tab: 1, askId: "ask-1", part: delta });
    expect(problemsOf({ shown: other })).toMatch(/which is not journalled/);
  });
});
