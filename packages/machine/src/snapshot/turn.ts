import type { Json, JsonObject } from "../thread/plain-data.ts";
import type { Message } from "../thread/message.ts";
import { sizeOf } from "../thread/thread.ts";
import type { Chunks } from "../thread/chunks.ts";
import type { Ask, Turn } from "../thread/turn.ts";
import { noUsage, type Tally, type Usage } from "../thread/usage.ts";

// Turns in few bytes: members with the expected value are left out, and all others are written unchanged.

/**
 * `[asks, milliseconds, usage, messages]`, and the members that differ from the expected ones; null for an expected
 * member that is missing.
 */
export type PackedTurn = readonly Json[];

/** Packs consecutive turns; `first` is the expected number of the first. */
export const packTurns = (
  first: number,
  turns: readonly Turn[],
  packed: (turn: number, messages: Chunks<Message>) => Json,
): readonly PackedTurn[] =>
  turns.map((turn, index) => {
    const { asks, usage, messages, ...others } = turn;
    const expected = expectedOf(first + index, turn, turns[index - 1]);
    const milliseconds = turn.endedAt - turn.startedAt;
    const left = unexpected(others, { ...expected, endedAt: turn.startedAt + milliseconds });
    return [
      asks.map(packAsk),
      milliseconds,
      usage.calls === 0 ? 0 : packUsage(usage),
      packed(turn.number, messages),
      ...(Object.keys(left).length === 0 ? [] : [left]),
    ];
  });

export const unpackTurns = (
  first: number,
  packed: readonly PackedTurn[],
  unpacked: (turn: number, messages: Json) => Chunks<Message>,
): readonly Turn[] => {
  let before: Turn | undefined;
  return packed.map((each, index): Turn => {
    // The text of a chunk was checked against its digest, so it has the written shape.
    const [asks, milliseconds, usage, packedMessages, left = {}] = each as readonly [
      readonly Json[],
      number,
      PackedUsage | 0,
      Json,
      JsonObject | undefined,
    ];
    const number = Number(left["number"] ?? first + index);
    const spoken = {
      asks: asks.map(unpackAsk),
      usage: usage === 0 ? noUsage : unpackUsage(usage),
      messages: unpacked(number, packedMessages),
    };
    const expected = expectedOf(first + index, spoken, before);
    const startedAt = Number(left["startedAt"] ?? expected.startedAt);
    const members: Members = { ...expected, endedAt: startedAt + milliseconds, ...left, ...spoken };
    const turn: Record<string, unknown> = {};
    for (const name in members) if (members[name] !== null) turn[name] = members[name];
    // The text of a chunk was checked against its digest, so these are the members of a turn.
    before = turn as unknown as Turn;
    return before;
  });
};

/** Returns the members of a turn that follow from its messages and from the turn before it, in the usual case. */
const expectedOf = (
  number: number,
  { asks, usage, messages }: Pick<Turn, "asks" | "usage" | "messages">,
  before: Turn | undefined,
) => {
  // Messages in their own chunks are ignored, both here and when the turn is read.
  const newest = (messages.levels[0] ?? []) as readonly Message[];
  const whole = messages.levels.length === 1;
  const place =
    before === undefined || !whole
      ? null
      : {
          turns: before.place.turns + 1,
          messages: before.place.messages + messages.length,
          characters: before.place.characters + sizeOf(newest).characters,
          straightFrom: before.place.straightFrom,
        };
  return {
    number,
    parent: number - 1,
    outcome: { status: "completed", finishReason: "stop" },
    answer: newest.at(-1)?.id ?? null,
    steps: usage.calls,
    toolCalls: newest.filter(({ role }) => role === "tool").length,
    startedAt: asks[0]?.askedAt ?? null,
    place,
  };
};

/** Returns the members that differ; null for those that are missing. */
const unexpected = (members: Members, expected: Members): JsonObject => {
  const left: Record<string, Json> = {};
  for (const name in { ...expected, ...members }) {
    // Members of a turn are JSON.
    const is = (members[name] ?? null) as Json;
    const should = expected[name] ?? null;
    // A turn's members are made in the expected order; in another one they are only written in full.
    if (is === should || JSON.stringify(is) === JSON.stringify(should)) continue;
    left[name] = is;
  }
  return left;
};

type Members = Readonly<Record<string, unknown>>;

const packAsk = (ask: Ask): Json =>
  // An ask is plain JSON, but an interface has no index signature that would say so.
  Object.keys(ask).length === 2 ? [ask.askId, ask.askedAt] : (ask as unknown as JsonObject);

const unpackAsk = (packed: Json): Ask => {
  // The text of a chunk was checked against its digest, so it has the written shape.
  if (!Array.isArray(packed)) return packed as unknown as Ask;
  const [askId, askedAt] = packed as [string, number];
  return { askId, askedAt };
};

// Usage in few bytes: its figures in a fixed order, without the usual ones at the end. A figure that every call
// reported is a number, one that no call reported is null, and any other is written in full.

export type PackedUsage = readonly Json[];

const packUsage = (usage: Usage): PackedUsage => {
  const { calls, unpriced, cost } = usage;
  const figures = tallies.map((name) => packTally(usage[name], calls));
  const costs = Object.entries(cost).map(([currency, tally]) => [currency, packTally(tally, calls - unpriced)]);
  const packed: Json[] = [calls, ...figures, unpriced === calls ? null : unpriced];
  if (costs.length > 0) packed.push(...costs);
  else while (packed.at(-1) === null) packed.pop();
  return packed;
};

const unpackUsage = (packed: PackedUsage): Usage => {
  const calls = Number(packed[0]);
  const tally = (index: number): Tally => unpackTally(packed[index + 1] ?? null, calls);
  const unpriced = typeof packed[tallies.length + 1] === "number" ? Number(packed[tallies.length + 1]) : calls;
  const costs = packed.slice(tallies.length + 2).map((cost) => {
    // Written by `packUsage`.
    const [currency, figure] = cost as [string, Json];
    return [currency, unpackTally(figure, calls - unpriced)] as const;
  });
  return {
    calls,
    inputTokens: tally(0),
    outputTokens: tally(1),
    totalTokens: tally(2),
    cacheReadTokens: tally(3),
    cacheWriteTokens: tally(4),
    reasoningTokens: tally(5),
    unpriced,
    cost: Object.fromEntries(costs),
  };
};

const tallies = [
  "inputTokens",
  "outputTokens",
  "totalTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "reasoningTokens",
] as const;

const packTally = ({ sum, reported, unreported }: Tally, calls: number): Json => {
  if (reported === 0) return null;
  return reported === calls ? sum : [sum, reported, unreported];
};

const unpackTally = (packed: Json, calls: number): Tally => {
  if (packed === null) return { sum: 0, reported: 0, unreported: calls };
  if (typeof packed === "number") return { sum: packed, reported: calls, unreported: 0 };
  // Written by `packTally`.
  const [sum, reported, unreported] = packed as [number, number, number];
  return { sum, reported, unreported };
};
