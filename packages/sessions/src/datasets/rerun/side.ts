import { noUsage, textOf, toArray, toolCallsOf, type Turn, type TurnOutcome, usageMonoid } from "@colloquy/machine";
import type { RerunFigures, RerunSide } from "./report.ts";

/** Returns one version of a closed turn, without a score. */
export const sideOf = (turn: Turn): RerunSide => {
  const messages = toArray(turn.messages);
  // A turn that was added whole has no answer from a model here; its last reply is used.
  const answer = messages.find(({ id }) => id === turn.answer) ?? messages.findLast(({ role }) => role === "assistant");
  return {
    status: turn.outcome.status,
    why: reasonOf(turn.outcome),
    answer: answer === undefined ? "" : textOf(answer),
    tools: messages.flatMap(toolCallsOf).map(({ name, arguments: given }) => ({ name, arguments: given })),
    usage: turn.usage,
    score: null,
    metricFailed: null,
  };
};

/** Adds up all versions. */
export const figuresOf = (sides: readonly RerunSide[]): RerunFigures => {
  const scores = sides.flatMap(({ score }) => score ?? []);
  return {
    turns: sides.length,
    completed: sides.filter(({ status }) => status === "completed").length,
    toolCalls: sides.reduce((sum, { tools }) => sum + tools.length, 0),
    usage: sides.reduce((sum, { usage }) => usageMonoid.concat(sum, usage), noUsage),
    score: scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length,
    scored: scores.length,
  };
};

const reasonOf = (outcome: TurnOutcome): string | null => {
  if (outcome.status === "completed") return null;
  if (outcome.status === "cancelled") return outcome.reason ?? "it was cancelled";
  if ("failure" in outcome) return outcome.failure.message;
  if ("output" in outcome) return outcome.output.message;
  if ("limit" in outcome) return `the limit ${outcome.limit.limit} of ${outcome.limit.allowed} was reached`;
  return `the prompt takes ${outcome.unfit.tokens} tokens, and there is room for ${outcome.unfit.available}`;
};
