import type { TurnOutcome } from "@colloquy/machine";

/** The end of an answer. Providers have many words for it. */
export type FinishReason = "stop" | "length" | "content-filter" | "tool-calls" | "other";

export const finishReasonOf = (reason: string | null): FinishReason => {
  const word = (reason ?? "stop").toLowerCase().replaceAll("-", "_");
  if (filtered.test(word)) return "content-filter";
  if (full.test(word)) return "length";
  return wholes.get(word) ?? "other";
};

/** Returns why the answer of a completed turn is incomplete, in the words of the Responses API; null if it is whole. */
export const cutBy = (outcome: TurnOutcome | null): "max_output_tokens" | "content_filter" | null => {
  if (outcome?.status !== "completed") return null;
  const reason = finishReasonOf(outcome.finishReason);
  if (reason === "length") return "max_output_tokens";
  return reason === "content-filter" ? "content_filter" : null;
};

const wholes: ReadonlyMap<string, FinishReason> = new Map([
  ...(["stop", "end_turn", "stop_sequence", "completed"] as const).map((word) => [word, "stop"] as const),
  ...(["tool_calls", "tool_use"] as const).map((word) => [word, "tool-calls"] as const),
]);

/** Parts of the words for a cut answer, since the machine too goes by parts (`saysCut`, which names their sources). */
const filtered = /filter|safety|sensitive|guardrail|recitation|language|blocklist|prohibited|spii|toxic|refusal/;
const full = /length|max.*tokens|context_window|truncat|incomplete/;
