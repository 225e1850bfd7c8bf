import { declarationsOf, type Host, type LlmOutcome, tool, type Tool } from "@colloquy/host";
import { type CallLlm, conversationMachine, type Entry, type Message } from "@colloquy/machine";
import fc from "fast-check";
import { type Ground, type HostLawRun, type HostUnderTest, onGround, parametersOf } from "./host-under-test.ts";
import { lawRedacted } from "./redacted.ts";
import { recordOf } from "../../arbitraries/record.ts";

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
    fc.asyncProperty(cases, (each) => onGround(subject, "redaction", (ground) => holds(ground, each))),
    parametersOf("checkRedaction", run, 20),
  );

interface Case {
  /** The number of tool calls of each turn. */
  readonly turns: readonly number[];
  /** The turn that is redacted, modulo the number of turns. */
  readonly pick: number;
  readonly whole: boolean;
  readonly copied: boolean;
  readonly snapshotEvery: number;
}

const cases: fc.Arbitrary<Case> = recordOf({
  turns: fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 4 }),
  pick: fc.nat({ max: 3 }),
  whole: fc.boolean(),
  copied: fc.boolean(),
  snapshotEvery: fc.constantFrom(1, 3, 1_000),
});

const holds = async (ground: Ground, { turns, pick, whole, copied, snapshotEvery }: Case): Promise<void> => {
  const sent: (readonly Message[])[] = [];
  const tools = [lookUp];
  const machine = conversationMachine({ tools: declarationsOf(tools) });
  const open = (): Host =>
    ground.open({ machine, tools, snapshotEvery, llm: async (call) => outcomeOf(call, turns, sent) });
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
    "a snapshot": await snapshotsOf(ground, ["default", ...copies]),
    "a copy": await Promise.all(copies.map((id) => ground.store.read(id))),
  };
  const after: readonly Entry[] = await next.thread().exportJournal();
  await next.close();
  await ground.store.close();
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

const snapshotsOf = async ({ store }: Ground, threadIds: readonly string[]): Promise<unknown> =>
  Promise.all(threadIds.map(async (id) => (await store.readSnapshot(id))?.head));
