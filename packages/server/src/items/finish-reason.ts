import type { TurnOutcome } from "@colloquy/machine";

/** The end of an answer. Providers have many words for it. */
export type FinishReason = "stop" | "length" | "content-filter" | "tool-calls" | "other";

export const finishReasonOf = (reason: string | null): FinishReason => finishReasons.get(reason ?? "stop") ?? "other";

/** Returns why the answer of a completed turn is incomplete, in the words of the Responses API; null if it is whole. */
export const cutBy = (outcome: TurnOutcome | null): "max_output_tokens" | "content_filter" | null => {
  if (outcome?.status !== "completed") return null;
  const reason = finishReasonOf(outcome.finishReason);
  if (reason === "length") return "max_output_tokens";
  return reason === "content-filter" ? "content_filter" : null;
};

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ...(["stop", "end_turn", "stop_sequence", "completed"] as const).map((word) => [word, "stop"] as const),
  ...(["length", "max_tokens", "max_output_tokens"] as const).map((word) => [word, "length"] as const),
  ...(["content_filter", "content-filter", "refusal"] as const).map((word) => [word, "content-filter"] as const),
  ...(["tool_calls", "tool-calls", "tool_use"] as const).map((word) => [word, "tool-calls"] as const),
]);
