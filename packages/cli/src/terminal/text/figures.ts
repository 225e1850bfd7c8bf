import type { Turn, Usage } from "@colloquy/machine";
import { oneLine } from "./printable.ts";

/** Returns the usage of a turn: `(1.5 s, 3 steps, 2.1k tokens: 2.0k in, 120 out)`, with its cost if known. */
export const figuresOf = ({ startedAt, endedAt, steps, usage }: Turn): string => {
  const { inputTokens, outputTokens } = usage;
  const isSplit = inputTokens.unreported + outputTokens.unreported === 0;
  const split = isSplit ? `: ${rounded(inputTokens.sum)} in, ${rounded(outputTokens.sum)} out` : "";
  const tokens = `${tokensOf(usage)}${split}`;
  return `(${[durationOf(endedAt - startedAt), counted(steps, "step"), tokens, ...costsOf(usage)].join(", ")})`;
};

/** Returns the usage of a turn for a screen: `Agent (1523ms, 3 iter, 2.1k tok)`. */
export const agentFigures = (name: string, { startedAt, endedAt, steps, usage }: Turn): string => {
  const tokens = tokensOf(usage).replace(/ tokens?$/, " tok");
  return `${oneLine(name)} (${[`${Math.max(Math.round(endedAt - startedAt), 0)}ms`, `${steps} iter`, tokens, ...costsOf(usage)].join(", ")})`;
};

/**
 * Returns the usage of all turns of a thread, including those that were taken back: `3 turns, 7 steps, 4.2k tokens in
 * 2.4 s`.
 */
export const totalOf = (turns: readonly Turn[], usage: Usage): string => {
  const steps = turns.reduce((sum, turn) => sum + turn.steps, 0);
  const durationMs = turns.reduce((sum, turn) => sum + turn.endedAt - turn.startedAt, 0);
  const counts = [counted(turns.length, "turn"), counted(steps, "step"), tokensOf(usage), ...costsOf(usage)].join(", ");
  return `${counts} in ${durationOf(durationMs)}`;
};

/** Returns `2.1k tokens`; `≥ 2.1k tokens` if some calls reported none; `? tokens` if no call did. */
export const tokensOf = ({ totalTokens }: Pick<Usage, "totalTokens">): string => {
  const { sum, reported, unreported } = totalTokens;
  if (unreported === 0) return counted(sum, "token");
  return reported === 0 ? "? tokens" : `≥ ${counted(sum, "token")}`;
};

/** Returns the reported input and output: `2.1k in / 0.3k out`; an empty text if a call did not report them. */
export const splitOf = ({ inputTokens, outputTokens }: Pick<Usage, "inputTokens" | "outputTokens">): string => {
  if (inputTokens.unreported + outputTokens.unreported > 0) return "";
  // The small figure gets the unit of the large one beside it.
  const isLarge = Math.max(inputTokens.sum, outputTokens.sum) >= 1000;
  const [input, output] = [inputTokens.sum, outputTokens.sum].map((count) =>
    isLarge && count < 1000 ? `${(count / 1000).toFixed(1)}k` : rounded(count),
  );
  return `${input} in / ${output} out`;
};

/** Returns `0.0123 USD`; `≥ 0.0123 USD` if some calls have no price; an empty text if none has one. */
export const costOf = ({ cost, unpriced }: Pick<Usage, "cost" | "unpriced">): string => {
  const sums = Object.entries(cost).map(([currency, { sum }]) => `${unitsOf(sum)} ${oneLine(currency)}`);
  return sums.length === 0 ? "" : `${unpriced === 0 ? "" : "≥ "}${sums.join(" + ")}`;
};

/** Converts billionths of a currency to units: whole hundredths, or the first three digits of an amount below one. */
export const unitsOf = (nano: number): string => {
  const units = nano / 1e9;
  return Math.abs(units) >= 1 ? units.toFixed(2) : units.toLocaleString("en", { maximumSignificantDigits: 3 });
};

const costsOf = (usage: Usage): readonly string[] => [costOf(usage)].filter((cost) => cost !== "");

/** Returns a number of things: `1 step`, `3 steps`. From 1,000 on it is rounded: `2.1k steps`. */
export const counted = (count: number, thing: string): string => `${rounded(count)} ${thing}${count === 1 ? "" : "s"}`;

/** Returns `40 ms`, `1.5 s`, `2 min 5 s`. */
export const durationOf = (durationMs: number): string => {
  // A clock may be set back in the middle of a turn.
  const milliseconds = Math.max(Math.round(durationMs), 0);
  if (milliseconds < 100) return `${milliseconds} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
};

const rounded = (count: number): string => {
  if (count < 1000) return String(count);
  // A count that would be written as 1000.0k is a million.
  return count < 999_950 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
};
