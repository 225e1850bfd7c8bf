import { type Message, type ToolCallPart, toolCallsOf, toolResultOf } from "../thread/message.ts";

/** What is wrong with a prompt, and with which of its messages. */
export interface PromptProblem {
  /** From 0; the length of the prompt when something is missing at its end. */
  readonly index: number;
  readonly reason: string;
}

/**
 * The first problem of a prompt, or null when it is well-formed: it is not empty, each assistant message with tool calls is
 * followed at once by exactly one result for each call, in call order; there is no result without its call,
 * and no message without an origin inside a round.
 *
 * It leaves to the machine that a system message leads, if there is one, and how the prompt ends: what comes before a
 * round is a prompt as good as any.
 */
export const checkPrompt = (messages: readonly Message[]): PromptProblem | null => {
  if (messages.length === 0) return { index: 0, reason: "the prompt is empty" };
  let expected: readonly ToolCallPart[] = [];
  for (const [index, message] of messages.entries()) {
    const next = expected[0];
    const result = toolResultOf(message);
    if (next === undefined) {
      if (message.role === "tool" || result !== undefined)
        return { index, reason: `a result of call ${result?.callId ?? "unknown"} that no message asked for here` };
      if (message.role !== "assistant" && toolCallsOf(message).length > 0)
        return { index, reason: `a ${message.role} message asks for tools` };
      expected = toolCallsOf(message);
    } else {
      if (result === undefined || message.role !== "tool" || message.parts.length > 1)
        return { index, reason: `a ${message.role} message stands where the result of call ${next.callId} should` };
      if (result.callId !== next.callId)
        return { index, reason: `the result of call ${result.callId} stands where that of ${next.callId} should` };
      expected = expected.slice(1);
    }
  }
  const missing = expected[0];
  return missing === undefined ? null : { index: messages.length, reason: `no result of call ${missing.callId}` };
};
