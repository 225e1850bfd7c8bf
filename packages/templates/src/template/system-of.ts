import type { Message } from "@colloquy/machine";

/** What stands in the place of the system prompt (the message that leads as one, or the text that is given in its place, or nothing), and what follows it. */
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
