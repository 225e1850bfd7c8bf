import type { AnswerableEffect, CallTool, Event, Json, ReplyDraft } from "@colloquy/machine";
import type { MoveNamed } from "./situation.ts";

/** Returns the successful or failed outcome of an effect. A timer fires in both cases. */
export const outcomeOf = (move: MoveNamed<"answer" | "fail">, at: number, effect: AnswerableEffect): Event => {
  const answer = { at, effectId: effect.id };
  switch (effect.type) {
    case "startTimer":
      return { type: "timer.fired", at: Math.max(at, effect.dueAt), effectId: effect.id };
    case "requestApproval":
      return { type: "approval.answered", ...answer, approved: move.move === "answer", digest: effect.digest };
    case "checkOutput":
      return move.move === "answer"
        ? { type: "output.accepted", ...answer, value: { text: effect.text } }
        : { type: "output.refused", ...answer, issues: [{ message: move.failure.message, path: ["text", 0] }] };
    case "callTool":
      return toolOutcomeOf(move, answer, effect);
    case "callLlm":
      return llmOutcomeOf(move, answer, effect);
  }
};

/** Returns the simplest answer to an effect. */
export const answerFor = (effect: AnswerableEffect, at: number): Event => {
  const answer = { at, effectId: effect.id };
  switch (effect.type) {
    case "callLlm":
      return { type: "llm.completed", ...answer, reply: { content: "stray" }, finishReason: "stop" };
    case "checkOutput":
      return { type: "output.accepted", ...answer, value: "stray" };
    case "callTool":
      return { type: "tool.completed", ...answer, content: "stray" };
    case "requestApproval":
      return { type: "approval.answered", ...answer, approved: true };
    case "startTimer":
      return { type: "timer.fired", ...answer };
  }
};

type Answer = { readonly at: number; readonly effectId: string };

/**
 * Returns the outcome of a tool call. A call that needs approval is withheld, as by a runtime that found its arguments
 * valid.
 */
const toolOutcomeOf = (move: MoveNamed<"answer" | "fail">, answer: Answer, call: CallTool): Event => {
  if (move.move === "fail") return { type: "tool.failed", ...answer, outcome: move.outcome, content: move.content };
  if (call.approval === "required")
    return { type: "tool.withheld", ...answer, because: "declared", version: "1", arguments: validated(call) };
  return { type: "tool.completed", ...answer, content: move.content };
};

const validated = ({ arguments: written }: CallTool): Json => {
  try {
    // JSON.parse returns JSON.
    return JSON.parse(written) as Json;
  } catch {
    return { written };
  }
};

const llmOutcomeOf = (
  move: MoveNamed<"answer" | "fail">,
  answer: Answer,
  effect: Extract<AnswerableEffect, { readonly type: "callLlm" }>,
): Event => {
  const sent = {
    ...answer,
    promptDigest: effect.promptDigest,
    ...(move.usage === undefined ? {} : { usage: move.usage }),
    ...(move.model === undefined ? {} : { model: move.model }),
  };
  if (move.move === "answer") {
    const reply = effect.purpose === "summary" && !isUnruly(move) ? withoutCalls(move.reply) : move.reply;
    return { type: "llm.completed", ...sent, reply, finishReason: move.finishReason };
  }
  return {
    type: "llm.failed",
    ...sent,
    failure: move.failure,
    ...(move.partial === undefined ? {} : { partial: move.partial }),
  };
};

/** Returns whether a model answers a summary request with a tool call, as some models do. */
const isUnruly = ({ pick }: MoveNamed<"answer">): boolean => pick % 4 === 3;

const withoutCalls = ({ toolCalls: _, ...said }: ReplyDraft): ReplyDraft => said;
