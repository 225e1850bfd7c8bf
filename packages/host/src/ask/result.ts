import { noUsage, textOf, toArray, type Turn } from "@colloquy/machine";
import {
  ContextUnfitError,
  LimitReachedError,
  OutputError,
  TurnCancelledError,
  type TurnError,
  TurnFailedError,
  type TurnSummary,
} from "./turn-errors.ts";

/** The result of an ask whose turn was completed. It has an output if the ask wanted one. */
export type AskResult<Output = undefined> = CompletedTurn &
  ([Output] extends [undefined] ? unknown : { readonly output: Output });

/** A turn that was completed. */
export interface CompletedTurn extends TurnSummary {
  readonly turn: number;
  readonly status: "completed";
  /** The finish reason of the last reply, as the provider calls it; null if it gave none. */
  readonly finishReason: string | null;
}

/** Returns the result of a closed turn, or its error. @param cause of the error, if an abort signal cancelled it */
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
  if ("unfit" in outcome) return new ContextUnfitError(summary, outcome.unfit);
  if ("failure" in outcome) return new TurnFailedError(summary, outcome.failure);
  const refused = turn.refusedOutputs?.at(-1);
  return answer === undefined && refused !== undefined
    ? new OutputError(summary, outcome.output, refused.issues, textOf(refused.reply))
    : new OutputError(summary, outcome.output, [], text);
};

export const summaryWithoutTurn = (threadId: string, askId: string): TurnSummary => ({
  threadId,
  askId,
  turn: null,
  text: "",
  messages: [],
  usage: noUsage,
});
