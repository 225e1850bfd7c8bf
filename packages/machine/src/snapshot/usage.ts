import type { Json } from "../thread/plain-data.ts";
import type { Tally, Usage } from "../thread/usage.ts";

// Usage in few bytes: its figures in a fixed order, without the usual ones at the end. A figure that every call
// reported is a number, one that no call reported is null, and any other is written in full.

/** The usage in a snapshot. */
export type PackedUsage = readonly Json[];

export const packUsage = (usage: Usage): PackedUsage => {
  const { calls, unpriced, cost } = usage;
  const figures = tallies.map((name) => packTally(usage[name], calls));
  const costs = Object.entries(cost).map(([currency, tally]) => [currency, packTally(tally, calls - unpriced)]);
  const packed: Json[] = [calls, ...figures, unpriced === calls ? null : unpriced];
  if (costs.length > 0) packed.push(...costs);
  else while (packed.length > 1 && packed.at(-1) === null) packed.pop();
  return packed;
};

export const unpackUsage = (packed: PackedUsage): Usage => {
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
  if (reported === 0 && sum === 0 && unreported === calls) return null;
  return reported === calls && unreported === 0 ? sum : [sum, reported, unreported];
};

const unpackTally = (packed: Json, calls: number): Tally => {
  if (packed === null) return { sum: 0, reported: 0, unreported: calls };
  if (typeof packed === "number") return { sum: packed, reported: calls, unreported: 0 };
  // Written by `packTally`.
  const [sum, reported, unreported] = packed as [number, number, number];
  return { sum, reported, unreported };
};
