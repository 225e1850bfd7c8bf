import { type Message, toolCallsOf, toolResultOf } from "@colloquy/machine";

/** Describes the first problem of a prompt; null if there is none. Written independently of `checkPrompt`. */
export const problemOfPrompt = (messages: readonly Message[]): string | null => {
  if (messages.length === 0) return "it is empty";
  const expected: (string | null)[] = messages.map(() => null);
  for (const [index, message] of messages.entries()) {
    const results = message.parts.filter(({ type }) => type === "toolResult");
    if (results.length !== (message.role === "tool" ? 1 : 0))
      return `message ${index} (${message.role}) has ${results.length} results`;
    for (const [position, call] of toolCallsOf(message).entries()) {
      if (message.role !== "assistant") return `message ${index} (${message.role}) asks for a tool`;
      const place = index + 1 + position;
      if (place >= messages.length) return `nothing answers call ${call.callId} of message ${index}`;
      if (expected[place] !== null) return `message ${index} stands inside a round`;
      expected[place] = call.callId;
    }
  }
  for (const [index, message] of messages.entries()) {
    const callId = toolResultOf(message)?.callId ?? null;
    if (callId !== expected[index])
      return `message ${index} is the result of ${String(callId)}, where that of ${String(expected[index])} should be`;
  }
  return null;
};
