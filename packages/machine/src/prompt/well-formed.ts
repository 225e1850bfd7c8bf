import { type Message, type ToolCallPart, toolCallsOf, toolResultOf } from "../thread/message.ts";

/** The reason why a prompt is invalid, and the message. */
export interface PromptProblem {
  /** From 0; the length of the prompt if something is missing at its end. */
  readonly index: number;
  readonly reason: string;
}

/**
 * Returns the first problem of a prompt, or null if it is well-formed. A well-formed prompt is not empty. Each
 * assistant message with tool calls is followed at once by exactly one result for each call, in call order. There is
 * no result without its call, and no other message inside a round.
 *
 * It does not check the position of the system message or the end of the prompt, which the machine ensures. So it also
 * accepts the part of a prompt before a round.
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
