import { declarationsOf, type Host, type LlmOutcome, tool, type Tool } from "@colloquy/host";
import {
  type CallLlm,
  type ConversationMachine,
  conversationMachine,
  type Entry,
  type Message,
  messagesOf,
  promptOf,
  type State,
  turnsOf,
} from "@colloquy/machine";
import { describeDifference, explain, replay } from "@colloquy/machine/inspect";
import { redactEntry } from "@colloquy/machine/storage";
import fc from "fast-check";
import * as Either from "fp-ts/lib/Either.js";
import { type Drawn, recordOf } from "../../arbitraries/values.ts";
import { plain, LawBroken, requireSame, checkedParameters, type HostLawRun } from "../evidence/law-broken.ts";
import { foldedUnder, type Testbed, type HostUnderTest, onTestbed } from "./host-under-test.ts";

/** A thread before and after words were redacted in it. */
export interface RedactionRun {
  readonly machine: ConversationMachine;
  /** The words that must be gone, each as it was written. */
  readonly words: readonly string[];
  readonly before: readonly Entry[];
  /** The journal afterwards, including later entries. */
  readonly after: readonly Entry[];
  /** The entries that had to lose their words. */
  readonly seqs: readonly number[];
  /**
   * Everything else that is kept or shown afterwards, by its name: a snapshot, hits of a search, an export, prompts
   * that were sent. Default: nothing.
   */
  readonly elsewhere?: Readonly<Record<string, unknown>>;
}

/**
 * Redaction. Afterwards the words are nowhere: in the journal, the state, the next prompt and its explanation, and
 * everything else given. All the rest is unchanged, entry by entry, turn by turn, message by message. A replay of the
 * journal finds no difference.
 */
export const lawRedacted = ({ machine, words, before, after, seqs, elsewhere = {} }: RedactionRun): void => {
  const [was, is] = [foldedUnder(law, before), foldedUnder(law, after)];
  const places = {
    "the journal": after,
    "the state": is,
    "the next prompt": promptOf(machine, is),
    "its explanation": explain(machine, is),
    ...elsewhere,
  };
  for (const each of words) {
    if (!isIn(before, each)) throw broken(`${JSON.stringify(each)} was never there: nothing is shown by its absence`);
    for (const [place, value] of Object.entries(places))
      if (isIn(value, each)) throw broken(`${JSON.stringify(each)} was redacted, and is in ${place}`);
  }
  for (const [index, entry] of before.entries()) {
    const expected = seqs.includes(entry.seq) && entry.redacted !== true ? redactEntry(entry) : entry;
    requireSame(law, `entry ${entry.seq}`, plain(expected), plain(after[index]));
  }
  const then = foldedUnder(law, after.slice(0, before.length));
  requireSame(law, "the shape of the thread", shapeOf(was), shapeOf(then));
  const replayed = replay(machine, after);
  if (Either.isLeft(replayed)) throw broken(`a replay differs: ${describeDifference(replayed.left)}`);
};

const law = "redaction";

const broken = (words: string): LawBroken => new LawBroken(law, words);

/** Returns whether a value has the words, as JSON writes them, anywhere in its text. */
const isIn = (value: unknown, words: string): boolean =>
  (JSON.stringify(value) ?? "").includes(JSON.stringify(words).slice(1, -1));

/** Returns the facts that a redaction does not change. */
const shapeOf = (state: State): unknown => ({
  messages: messagesOf(state).map(({ id, role, parts }) => ({ id, role, parts: parts.map(({ type }) => type) })),
  turns: turnsOf(state).map(({ number, asks, outcome }) => ({
    number,
    asks: asks.map(({ askId }) => askId),
    status: outcome.status,
  })),
  usage: state.context.usage,
});

/**
 * Checks that a host and a store keep the law about redaction (`lawRedacted`), on random conversations whose asks,
 * calls, results and answers each have unique words. One turn, or one question, is redacted in the thread and in a
 * copy. Then the words are searched for in the journals, the snapshots, the search, the states, and in later prompts.
 * This is done for this host and for one that opens the thread after it.
 *
 * @param run 20 conversations by default.
 */
export const checkRedaction = async (subject: HostUnderTest = {}, run: HostLawRun = {}): Promise<void> =>
  fc.assert(
    fc.asyncProperty(cases, (each) => onTestbed(subject, "redaction", (testbed) => holds(testbed, each))),
    checkedParameters("checkRedaction", run, 20),
  );

type Case = Drawn<typeof cases>;

const cases = recordOf({
  /** The number of tool calls of each turn. */
  turns: fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 4 }),
  /** The turn that is redacted, modulo the number of turns. */
  pick: fc.nat({ max: 3 }),
  whole: fc.boolean(),
  copied: fc.boolean(),
  snapshotEvery: fc.constantFrom(1, 3, 1_000),
});

const holds = async (testbed: Testbed, { turns, pick, whole, copied, snapshotEvery }: Case): Promise<void> => {
  const sent: (readonly Message[])[] = [];
  const tools = [lookUp];
  const machine = conversationMachine({ tools: declarationsOf(tools) });
  const open = (): Host =>
    testbed.open({ machine, tools, snapshotEvery, llm: async (call) => outcomeOf(call, turns, sent) });
  const host = open();
  for (const [index] of turns.entries()) await host.ask(wordOf("question", index + 1));
  const thread = host.thread();
  const copies = copied ? [(await thread.fork({ threadId: "copy" })).thread.id] : [];
  const before = await thread.exportJournal();
  const turn = (pick % turns.length) + 1;
  const words = whole ? wordsOf(turn, turns[turn - 1] ?? 0) : [wordOf("question", turn)];
  const seqs = await thread.redact(whole ? { turn } : { message: `${turn}.0` }, { copies, reason: "asked for" });
  sent.length = 0;
  await host.ask("And now?");
  const state = await thread.state();
  const hits = await hitsOf(host, words);
  await host.close();
  const next = open();
  await next.ask("And later?");
  const elsewhere = {
    "the live state": state,
    "the state of the next host": await next.thread().state(),
    "a prompt that was sent": sent,
    "the search": [hits, await hitsOf(next, words)],
    "a snapshot": await snapshotsOf(testbed, ["default", ...copies]),
    "a copy": await Promise.all(copies.map((id) => testbed.store.read(id))),
  };
  const after: readonly Entry[] = await next.thread().exportJournal();
  await next.close();
  await testbed.store.close();
  lawRedacted({ machine, words, before, after, seqs, elsewhere });
};

const wordOf = (what: string, turn: number): string => `${what}word${turn}x`;

const wordsOf = (turn: number, calls: number): readonly string[] => [
  ...["question", "answer"].map((what) => wordOf(what, turn)),
  ...Array.from({ length: calls }, (_, call) => [
    wordOf(`argument${call}`, turn),
    wordOf(`result${call}`, turn),
  ]).flat(),
];

const outcomeOf = (
  { turn, step, messages }: CallLlm,
  turns: readonly number[],
  sent: (readonly Message[])[],
): LlmOutcome => {
  sent.push(messages);
  const calls = step === 1 ? (turns[turn - 1] ?? 0) : 0;
  if (calls === 0) return { type: "completed", reply: { content: wordOf("answer", turn) }, finishReason: "stop" };
  const toolCalls = Array.from({ length: calls }, (_, call) => ({
    id: null,
    name: "look_up",
    arguments: JSON.stringify({ word: wordOf(`argument${call}`, turn) }),
  }));
  return { type: "completed", reply: { toolCalls }, finishReason: "tool_calls" };
};

const lookUp: Tool = tool({
  name: "look_up",
  description: "Looks something up.",
  input: { jsonSchema: { type: "object" } },
  recovery: "rerun",
  run: ({ word }) => String(word).replace("argument", "result"),
});

const hitsOf = async (host: Host, words: readonly string[]): Promise<unknown> => {
  const pages = await Promise.allSettled(words.map((each) => host.search(each)));
  // A store without search finds nothing.
  return pages.flatMap((page) => (page.status === "fulfilled" ? page.value.hits : []));
};

const snapshotsOf = async ({ store }: Testbed, threadIds: readonly string[]): Promise<unknown> =>
  Promise.all(threadIds.map(async (id) => (await store.readSnapshot(id))?.head));
