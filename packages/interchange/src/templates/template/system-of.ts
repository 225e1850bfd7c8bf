import type { Message } from "@colloquy/machine";

/**
 * Splits messages into the system prompt and the rest. The system prompt is the given text, otherwise the leading
 * system message, if there is one.
 */
export const systemOf = (
  messages: readonly Message[],
  given?: string,
): { readonly system: readonly [] | readonly [Message | string]; readonly rest: readonly Message[] } => {
  const [first, ...others] = messages;
  const leads = first !== undefined && (first.role === "system" || first.role === "developer");
  const rest = leads ? others : messages;
  if (given !== undefined) return { system: [given], rest };
  return { system: leads ? [first] : [], rest };
};
