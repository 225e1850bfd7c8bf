import { noUsage, textOf, toArray, type Turn } from "@colloquy/machine";
import {
  ContextUnfitError,
  LimitReachedError,
  TurnCancelledError,
  type TurnError,
  TurnFailedError,
  type TurnSummary,
} from "./turn-errors.ts";

/** The result of an ask whose turn was completed. */
export interface AskResult extends TurnSummary {
  readonly turn: number;
  readonly status: "completed";
  /** Why the last reply ended, as the provider calls it; null when it gave no reason. */
  readonly finishReason: string | null;
}

/**
 * The result of a closed turn, or the error that says why there is none.
 *
 * @param cause of the error, where the turn was cancelled by an abort signal.
 */
export const resultOf = (
  threadId: string,
  askId: string,
  turn: Turn,
  cause?: { readonly cause: unknown },
): AskResult | TurnError => {
  const messages = Object.freeze(toArray(turn.messages));
  const answer = messages.find(({ id }) => id === turn.answer);
  const text = answer === undefined ? "" : textOf(answer);
  const summary = Object.freeze({ threadId, askId, turn: turn.number, text, messages, usage: turn.usage });
  const { outcome } = turn;
  if (outcome.status === "completed")
    return Object.freeze({ ...summary, status: "completed", finishReason: outcome.finishReason });
  if (outcome.status === "cancelled") return new TurnCancelledError(summary, outcome.reason, cause);
  if ("limit" in outcome) return new LimitReachedError(summary, outcome.limit);
  return "unfit" in outcome
    ? new ContextUnfitError(summary, outcome.unfit)
    : new TurnFailedError(summary, outcome.failure);
};

/** The summary of an ask for which no turn was opened. */
export const summaryWithoutTurn = (threadId: string, askId: string): TurnSummary => ({
  threadId,
  askId,
  turn: null,
  text: "",
  messages: [],
  usage: noUsage,
});
