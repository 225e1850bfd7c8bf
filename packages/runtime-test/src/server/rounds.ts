import { invalidRequest, type WireError } from "./wire-error.ts";

/** The parts of a message that the order of calls and results depends on. */
type WireMessage =
  | {
      readonly role: "assistant";
      readonly content?: unknown;
      readonly tool_calls?: readonly { readonly id: string }[] | undefined;
    }
  | { readonly role: "tool"; readonly tool_call_id: string }
  | { readonly role: "system" | "developer" | "user" };

/**
 * Returns the real server's error about a list of messages, or null. It refuses a result whose call is not directly
 * before it, calls without their results, and an empty assistant message.
 */
export const problemOfRounds = (messages: readonly WireMessage[]): WireError | null => {
  let asked: ReadonlySet<string> = new Set();
  let open = new Set<string>();
  let askedAt = 0;
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") {
      if (!asked.has(message.tool_call_id)) return orphan(index, message.tool_call_id);
      open.delete(message.tool_call_id);
      continue;
    }
    if (open.size > 0) return unanswered(askedAt, open);
    const calls = message.role === "assistant" ? message.tool_calls : undefined;
    if (message.role === "assistant" && calls === undefined && saysNothing(message)) {
      return invalidRequest(
        `Invalid value for 'messages[${index}].content': expected a string, got null.`,
        `messages[${index}].content`,
        "invalid_type",
      );
    }
    asked = new Set(calls?.map(({ id }) => id));
    open = new Set(asked);
    askedAt = index;
  }
  return open.size > 0 ? unanswered(askedAt, open) : null;
};

/** Returns whether a message is empty. The old and new alternatives to text count as content. */
const saysNothing = (message: object): boolean =>
  !["content", "refusal", "function_call", "audio"].some((field) => {
    // Its members are looked up below.
    const value = (message as Record<string, unknown>)[field];
    return value !== undefined && value !== null;
  });

const orphan = (index: number, id: string): WireError =>
  invalidRequest(
    `Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'; no message just before messages[${index}] has a call '${id}'.`,
    `messages[${index}].role`,
  );

const unanswered = (index: number, ids: ReadonlySet<string>): WireError =>
  invalidRequest(
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids of messages[${index}] did not have response messages: ${[...ids].join(", ")}`,
    `messages[${index}].tool_calls`,
  );
