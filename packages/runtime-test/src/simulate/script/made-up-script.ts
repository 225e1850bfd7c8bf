import { type AskInput, declarationsOf, type ThreadDefaults } from "@colloquy/host";
import {
  type ConversationMachine,
  conversationMachine,
  type Limits,
  type MachineOptions,
  type MessageDraft,
  type Overlap,
  type OverlapType,
  type Pricing,
  type SeedDraft,
  type Budget,
} from "@colloquy/machine";
import {
  keepAll,
  lastTurns,
  clearResults,
  compactTurns,
  compose,
  fitOversized,
  lastMessages,
  limitResults,
  type Policy,
  summariseTurns,
  type SummaryOptions,
  tokenWindow,
} from "@colloquy/machine/policies";
import { callersToolsFrom, simulatedTools } from "./made-up-reply.ts";
import { scribblingOptions } from "../../scribbling/scribbling-options.ts";
import { Random } from "../world/world.ts";
import type { Action, EventWithoutTime } from "./script.ts";

/** Returns the user's actions in a conversation of this seed: two to five asks, with other actions in between. */
export const madeUpActions = (seed: number): readonly Action[] => {
  const random = new Random(seed, "script");
  const elsewhere = new Random(seed, "elsewhere");
  const callers = new Random(seed, "tools of the caller");
  const outputs = new Random(seed, "outputs");
  const actions: Action[] = [];
  const inputs: AskInput[] = [];
  let asks = 0;
  for (let left = random.whole(2, 5); left > 0; left--) {
    const again = asks > 0 && random.chance(0.08) ? { again: random.whole(0, asks - 1) } : {};
    const fresh = inputFrom(random, asks);
    // Sometimes an ask with another input repeats the id of an earlier one.
    const input = again.again === undefined || asks % 3 === 0 ? fresh : (inputs[again.again] ?? fresh);
    inputs.push(input);
    actions.push({
      type: "ask",
      input,
      ...limitsFrom(random),
      ...(random.chance(0.2) ? { overlap: random.pick(overlapTypes) } : {}),
      // An ask that must also wait or interrupt is refused.
      ...(elsewhere.chance(0.1) ? { from: elsewhere.whole(0, 2) } : {}),
      ...callersToolsFrom(callers),
      ...(outputs.chance(0.2) ? { output: { repairs: outputs.whole(0, 2) } } : {}),
      ...again,
      afterMs: gapFrom(random),
    });
    asks++;
    if (random.chance(0.3)) actions.push(aside(random, asks));
    if (random.chance(0.6)) actions.push({ type: "settle" });
    if (random.chance(0.1)) actions.push(takenBack(random));
  }
  return actions;
};

export const madeUpThread = (seed: number): ThreadDefaults => {
  const random = new Random(seed, "thread");
  return {
    ...(random.chance(0.5) ? { system: "You are somebody who helps." } : {}),
    ...(random.chance(0.2) ? { seed: saidBefore } : {}),
    ...(random.chance(0.2) ? { model: { temperature: 0 }, metadata: { user: "somebody" } } : {}),
  };
};

const saidBefore: readonly SeedDraft[] = [
  { role: "user", content: "What did we say about it?" },
  { role: "assistant", content: "Wait.", toolCalls: [{ id: "call_0", name: "lookup", arguments: "{}" }] },
  { role: "tool", toolCallId: "call_0", content: "Nothing." },
  { role: "assistant", content: "Nothing so far." },
];

/** Returns one of the possible configurations. Revisions decide alike, and have different fingerprints. */
export const madeUpMachine = (seed: number, revision: number): ConversationMachine => {
  const random = new Random(seed, "machine");
  const choices = [0.5, 0.3, 0.3, 0.3, 0.2].map((probability) => random.chance(probability));
  const overlap = random.pick(overlapTypes);
  const context = madeUpContext(seed);
  const scribbles = new Random(seed, "scribbling policy").chance(0.3);
  const key = [...choices.map(Number), overlap, context?.index ?? 0, revision, scribbles].join(" ");
  const known = machines.get(key);
  if (known !== undefined) return known;
  const options: MachineOptions = {
    ...optionsOf(choices),
    overlap: overlapOf(overlap),
    ...context?.options,
    tools: declarationsOf(simulatedTools),
    model: { revision },
  };
  const machine = conversationMachine(scribbles ? scribblingOptions(options) : options);
  if (machines.size >= machinesMax) machines.clear();
  machines.set(key, machine);
  return machine;
};

/** Enough that most conversations find theirs. */
const machinesMax = 2_000;

/** Making a machine takes longer than some conversations, and machines are immutable. */
const machines = new Map<string, ConversationMachine>();

const optionsOf = ([prunes, limits, times, prices, asks]: readonly boolean[]): MachineOptions => ({
  policy: prunes === true ? lastTurns(2) : keepAll(),
  interrupted: prunes === true ? "omit" : "keep",
  limits: limits === true ? { steps: 3, toolCalls: 4, deadlineMs: 400 } : {},
  retry: { baseDelayMs: 20, maxDelayMs: 200, maxRetryAfterMs: 100 },
  ...(times === true ? { idleTimeoutMs: 100 } : {}),
  ...(prices === true ? { pricing } : {}),
  unknownTool: asks === true ? "ask" : "result",
});

const overlapTypes = ["reject", "queue", "merge", "latest", "interrupt", "steer"] as const;

const overlapOf = (type: OverlapType): Overlap =>
  type === "queue" || type === "merge" || type === "steer" ? { type, max: 2 } : { type };

const pricing: Pricing = {
  name: "simulated",
  version: 1,
  options: {},
  price: ({ inputTokens, outputTokens }) =>
    inputTokens === undefined ? null : { nano: 3 * inputTokens + 15 * (outputTokens ?? 0), currency: "EUR" },
};

const inputFrom = (random: Random, asks: number): string | readonly MessageDraft[] => {
  const text = `What about number ${asks}?`;
  if (random.chance(0.8)) return text;
  // Sometimes an ask is empty and only continues the conversation. As the first one it would have nothing to send.
  if (asks > 0 && random.chance(0.5)) return [];
  return [
    { role: "user", content: text, name: "somebody" },
    { role: "user", content: [{ type: "text", text: "And besides?" }] },
  ];
};

const limitsFrom = (random: Random): { readonly limits?: Limits } => {
  if (random.chance(0.9)) return {};
  return {
    limits: random.pick<Limits>([{ steps: 0 }, { steps: 1 }, { toolCalls: 1 }, { tokens: 150 }, { deadlineMs: 80 }]),
  };
};

const gapFrom = (random: Random): number => random.whole(0, 3) * random.whole(0, 100);

const aside = (random: Random, asks: number): Action => {
  const afterMs = random.whole(0, 80);
  if (random.chance(0.25)) return { type: "cancel", afterMs };
  if (random.chance(0.3)) return { type: "steer", input: `And mind number ${asks}, too.`, afterMs };
  if (random.chance(0.15)) return { type: "errand", afterMs };
  if (random.chance(0.1)) return { type: "redact", turn: random.whole(1, 3), afterMs };
  if (random.chance(0.25)) return { type: "abort", ask: random.whole(0, asks - 1), afterMs };
  return { type: "send", event: eventFrom(random), afterMs };
};

/** Returns an action that takes back the newest messages, perhaps while they are being summarised. */
const takenBack = (random: Random): Action => ({
  type: "send",
  event: random.chance(0.7)
    ? { type: "head.moved", to: random.whole(0, 2) }
    : { type: "answer.truncated", turn: random.whole(1, 2), characters: random.whole(0, 12) },
  afterMs: random.whole(0, 30),
});

const eventFrom = (random: Random): EventWithoutTime =>
  random.pick<EventWithoutTime>([
    { type: "message.appended", message: { role: "user", content: "By the way." } },
    { type: "message.pinned", message: `${random.whole(0, 3)}.${random.whole(0, 2)}`, pinned: random.chance(0.8) },
    { type: "message.pinned", message: "1.0", pinned: true },
    { type: "message.appended", message: { role: "system", content: "Be brief." } },
    {
      type: "round.appended",
      reply: { content: "Seen elsewhere.", toolCalls: [{ id: "call_0", name: "lookup", arguments: "{}" }] },
      results: [{ outcome: "completed", content: "Found elsewhere." }],
    },
    { type: "system.changed", system: `You are version ${random.whole(1, 9)}.` },
    { type: "system.changed", system: null },
    { type: "turn.annotated", turn: random.whole(1, 3), name: "score", value: random.whole(1, 5) },
    { type: "answer.truncated", turn: random.whole(1, 3), characters: random.whole(0, 12) },
    { type: "head.moved", to: random.whole(0, 3) },
    { type: "head.moved", to: { checkpoint: "here" } },
    { type: "checkpoint.named", name: "here" },
    {
      type: "turn.added",
      messages: [
        { role: "user", content: "Said elsewhere." },
        { role: "assistant", content: "Indeed." },
      ],
    },
    { type: "cancel.requested", reason: "enough" },
  ]);

/** The limits of the prompts in a generated conversation, and the policy that keeps them. */
interface MadeUpContext {
  /** The number of the context. The same number means the same options. */
  readonly index: number;
  readonly options: Pick<MachineOptions, "budget" | "policy" | "warnAt">;
  /** Whether the policy makes room by leaving out everything that can be left out. */
  readonly findsRoom: boolean;
}

/** Returns the context of a seed; null for a conversation without a budget whose policy needs none. */
export const madeUpContext = (seed: number): MadeUpContext | null => {
  const random = new Random(seed, "context");
  return random.chance(0.4) ? null : contextNumbered(random.whole(1, contexts));
};

/** Few enough that their machines can be cached, and enough that each kind occurs in most sizes. */
const contexts = 60;

const contextNumbered = (index: number): MadeUpContext => {
  const random = new Random(index, "context");
  const { policy, findsRoom } = random.pick(kinds)(random);
  const budget: Budget | null = random.chance(0.8)
    ? { tokens: random.pick([60, 100, 150, 250, 400, 1_000]), reserve: random.pick([0, 10, 20]) }
    : null;
  const options = { budget, ...(policy === null ? {} : { policy }), ...(random.chance(0.3) ? { warnAt: 0.5 } : {}) };
  return { index, options, findsRoom };
};

interface Kind {
  /** Null for the machine's default. */
  readonly policy: Policy | null;
  readonly findsRoom: boolean;
}

const kinds: readonly [(random: Random) => Kind, ...((random: Random) => Kind)[]] = [
  () => ({ policy: null, findsRoom: false }),
  () => ({ policy: lastMessages({ max: 8, keepRecent: 4, keepSystem: false }), findsRoom: false }),
  (random) => room(tokenWindow(random.chance(0.5) ? {} : { cutTo: 0.5 })),
  (random) => room(compacting(random)),
  (random) => room(compacting(random)),
  (random) => room(summarising(random)),
  (random) => room(summarising(random)),
  () => room(compose(fitOversized(), tokenWindow())),
  (random) => room(compose(clearResults({ keep: random.whole(0, 1) }), tokenWindow())),
  (random) => room(compose(limitResults({ characters: 200 }), compacting(random))),
  (random) => room(compose(clearResults({ keep: 0, when: "always" }), summarising(random), fitOversized())),
];

const room = (policy: Policy): Kind => ({ policy, findsRoom: true });

const compacting = (random: Random): Policy =>
  compactTurns({ keepTurns: random.whole(0, 2), at: random.pick([0, 0.5, 0.8]), ...written(random) });

const summarising = (random: Random): Policy =>
  summariseTurns({
    level: random.pick(["concise", "verbose"]),
    maxTurns: random.pick([0, 2, 20]),
    keepTurns: random.whole(0, 1),
    ...written(random),
  });

/** A simulated summary has about ten tokens, one that is too long more than a hundred. */
const written = (random: Random): SummaryOptions => ({
  maxTokens: random.pick([30, 60]),
  requestTokens: summaryRequestTokens,
  waitMs: random.pick([0, 30, 100, 300]),
  ...(random.chance(0.5) ? { instruction: "Sum it up." } : {}),
  ...(random.chance(0.3) ? { model: { temperature: 1 } } : {}),
});

/** The budgets of a simulation are smaller than any instruction. Unit: tokens. */
export const summaryRequestTokens = 4_000;
