import type { CanonicalCall, CanonicalMessage } from "./canonical.ts";

/** The first violation of the protocol of rounds in a list of messages. */
export interface ProtocolProblem {
  /** From 0; the length of the list if something is missing at its end. */
  readonly index: number;
  readonly reason: string;
}

/**
 * Returns why no machine that keeps rounds whole can send these messages, or null. One result for each call must
 * directly follow an assistant message with calls, in call order, and no result occurs without its call. Only the
 * recording is checked, so that a fault of the machine never counts as one of the recording.
 */
export const protocolProblemOf = (messages: readonly CanonicalMessage[]): ProtocolProblem | null => {
  let expected: readonly CanonicalCall[] = [];
  for (const [index, message] of messages.entries()) {
    const call = expected[0];
    const reason = call === undefined ? problemOutside(message) : problemInRound(message, call);
    if (reason !== null) return { index, reason: `message ${index} ${reason}` };
    expected = call === undefined ? (message.tool_calls ?? []) : expected.slice(1);
  }
  const missing = expected[0];
  return missing === undefined
    ? null
    : { index: messages.length, reason: `the result of call ${name(missing.id)} is missing at its end` };
};

const problemOutside = (message: CanonicalMessage): string | null => {
  if (message.role === "tool")
    return `is a result (of ${name(message.tool_call_id)}) that no message just before it asked for`;
  return message.role === "assistant" || message.tool_calls === undefined ? null : `(${message.role}) asks for tools`;
};

const problemInRound = (message: CanonicalMessage, call: CanonicalCall): string | null => {
  if (message.role !== "tool") return `(${message.role}) stands where the result of call ${name(call.id)} should`;
  return (message.tool_call_id ?? null) === call.id
    ? null
    : `is the result of ${name(message.tool_call_id)} where that of call ${name(call.id)} should stand`;
};

const name = (id: unknown): string => (id === null || id === undefined ? "without an id" : JSON.stringify(id));
