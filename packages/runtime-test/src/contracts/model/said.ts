import type { LlmDelta, LlmOutcome } from "@colloquy/host";
import type { Failure, ReplyDraft } from "@colloquy/machine";
import { spokenOf } from "../../server/answer.ts";

/** The whole content of a reply or of its pieces, by kind, to compare the two. */
export interface Said {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  /** In the order of their indexes. */
  readonly calls: readonly { readonly id: string | null; readonly name: string; readonly arguments: string }[];
}

/** Joins the content of the pieces. */
export const saidInPieces = (deltas: readonly LlmDelta[]): Said => {
  const said = { text: "", reasoning: "", refusal: "" };
  const calls: { id: string | null; name: string; arguments: string }[] = [];
  for (const delta of deltas) {
    if (delta.type !== "toolCall") said[delta.type] += delta.text;
    else {
      const { id, name, index } = delta;
      calls[index] = { id, name, arguments: (calls[index]?.arguments ?? "") + delta.arguments };
    }
  }
  return { ...said, calls };
};

/** Returns the content of a reply. */
export const saidInReply = (reply: ReplyDraft): Said => ({
  ...spokenOf(reply),
  calls: (reply.toolCalls ?? []).map(({ id, name, arguments: written }) => ({ id, name, arguments: written })),
});

type Completed = Extract<LlmOutcome, { readonly type: "completed" }>;

/** @throws Error, with the outcome, if the call did not complete */
export const completed = (outcome: LlmOutcome): Completed => {
  if (outcome.type === "completed") return outcome;
  throw new Error(`the call should have completed, and failed: ${JSON.stringify(outcome.failure)}`);
};

/** @throws Error, with the outcome, if the call did not fail */
export const failureOf = (outcome: LlmOutcome): Failure => {
  if (outcome.type === "failed") return outcome.failure;
  throw new Error(`the call should have failed, and gave ${JSON.stringify(outcome.reply)}`);
};

/** Returns the content received before a call failed. */
export const partialOf = (outcome: LlmOutcome, deltas: readonly LlmDelta[]): Said => {
  failureOf(outcome);
  return outcome.type === "failed" && outcome.partial !== undefined
    ? saidInReply(outcome.partial)
    : saidInPieces(deltas);
};
