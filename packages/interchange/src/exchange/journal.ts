import {
  type CallTool,
  conversationMachine,
  type ConversationMachine,
  type Entry,
  type Event,
  type MessageDraft,
  outstanding,
  type SeedDraft,
  type SeedReply,
  type SeedResult,
  start,
  type State,
  type ToolDeclaration,
  transition,
} from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import type { Imported } from "./import-conversation.ts";
import type { ImportProblem } from "./import-problem.ts";

export interface JournalOptions {
  readonly threadId: string;
  /** The time of every entry, in milliseconds since the epoch. Default 0. */
  readonly at?: number;
  /** The tools that the model was offered. Default: unknown, and a replay does not compare them. */
  readonly tools?: readonly ToolDeclaration[];
}

/**
 * Returns a conversation as a journal of asks, model calls and tool results. A replay then tells what another machine
 * would have sent: each call has the digest of the messages before its reply. Pure. Messages before the first user
 * message become the seed.
 */
export const toJournal = (
  { system, turns }: Pick<Imported, "system" | "turns">,
  { threadId, at = 0, tools }: JournalOptions,
): Either.Either<ImportProblem, readonly Entry[]> => {
  const machine = conversationMachine({
    unknownTool: "ask",
    interrupted: "keep",
    retry: { attempts: 1 },
    tools: tools ?? [],
  });
  const drafts = turns.flat();
  const from = Math.max(
    drafts.findIndex(({ role }) => role === "user"),
    0,
  );
  const seed = drafts.slice(0, from);
  const begun = start(machine, {
    threadId,
    at,
    ...(system === null ? {} : { system }),
    ...(seed.length === 0 ? {} : { seed }),
  });
  const first = tools === undefined ? withoutTools(begun.entry) : begun.entry;
  const drive: Drive = { machine, at, state: begun.state, entries: [first] };
  const refused = performAll(drive, drafts, from);
  if (refused !== null) return Either.left(refused);
  return Either.right(drive.entries);
};

interface Drive {
  readonly machine: ConversationMachine;
  readonly at: number;
  state: State;
  readonly entries: Entry[];
}

const performAll = (drive: Drive, drafts: readonly SeedDraft[], from: number): ImportProblem | null => {
  let between: (MessageDraft | SeedResult)[] = [];
  for (const [index, draft] of drafts.entries()) {
    if (index < from) continue;
    if (draft.role !== "assistant") {
      between.push(draft);
      continue;
    }
    const reason = feed(drive, between, true) ?? complete(drive, draft);
    if (reason !== null) return { index, reason: `message ${index} cannot be replayed: ${reason}` };
    between = [];
  }
  const reason = between.length === 0 ? null : feed(drive, between, false);
  return reason === null ? null : { index: drafts.length - 1, reason: `the end cannot be replayed: ${reason}` };
};

/** Sends the messages between two replies: a question, or the results of a round and the messages beside them. */
const feed = (drive: Drive, drafts: readonly (MessageDraft | SeedResult)[], callFollows: boolean): string | null => {
  const waiting = outstanding(drive.state)
    .filter((effect) => effect.type === "callTool")
    .toSorted((left, right) => left.position - right.position);
  const results = drafts.filter((draft) => draft.role === "tool");
  const said = drafts.filter((draft) => draft.role !== "tool");
  if (waiting.length === 0) return ask(drive, said, callFollows);
  // The model is called as soon as the last result arrives, so other messages come before it.
  const closing = results.length === waiting.length ? results.length - 1 : results.length;
  return (
    firstOf(results.slice(0, closing), (result, place) => answer(drive, waiting[place], result)) ??
    firstOf(said, (message) => send(drive, { type: "message.appended", message })) ??
    firstOf(results.slice(closing), (result) => answer(drive, waiting[closing], result))
  );
};

const ask = (drive: Drive, said: readonly MessageDraft[], callFollows: boolean): string | null => {
  const from = said.findLastIndex(({ role }) => role !== "user") + 1;
  const appended = firstOf(said.slice(0, from), (message) => send(drive, { type: "message.appended", message }));
  const asked = said.slice(from);
  if (appended !== null || (asked.length === 0 && !callFollows)) return appended;
  const [only] = asked;
  const isPlain = asked.length === 1 && only?.metadata === undefined && only?.provider === undefined;
  return send(drive, {
    type: "ask.received",
    askId: `ask-${drive.entries.length}`,
    ...(isPlain && only !== undefined && only.content.length > 0
      ? { input: only.content, ...(only.name === undefined ? {} : { name: only.name }) }
      : { input: asked }),
  });
};

const complete = (drive: Drive, { role: _, metadata: __, ...reply }: SeedReply | MessageDraft): string | null => {
  const call = outstanding(drive.state).find((effect) => effect.type === "callLlm");
  if (call === undefined) return "a reply stands where no model was called";
  const { id: effectId, promptDigest } = call;
  return send(drive, { type: "llm.completed", effectId, reply, finishReason: null, promptDigest });
};

const answer = (drive: Drive, call: CallTool | undefined, { content }: SeedResult): string | null =>
  call === undefined
    ? "a result stands where no tool was called"
    : send(drive, { type: "tool.completed", effectId: call.id, content });

const send = (drive: Drive, untimed: Untimed<Event>): string | null => {
  const step = transition(drive.machine, drive.state, { ...untimed, at: drive.at });
  if (!step.handled) return step.refusal.reason;
  drive.state = step.state;
  drive.entries.push(step.entry);
  return null;
};

type Untimed<Timed> = Timed extends unknown ? Omit<Timed, "at"> : never;

/** Removes the list of tools, so that a replay does not compare them. */
const withoutTools = ({ event, ...entry }: ReturnType<typeof start>["entry"]): Entry => {
  const { tools: _, ...configuration } = event.configuration ?? {};
  // Cast: the entry is unchanged except for the list.
  return { ...entry, event: { ...event, configuration } } as Entry;
};

const firstOf = <Value>(
  values: readonly Value[],
  reasonOf: (value: Value, place: number) => string | null,
): string | null => {
  for (const [place, value] of values.entries()) {
    const reason = reasonOf(value, place);
    if (reason !== null) return reason;
  }
  return null;
};
