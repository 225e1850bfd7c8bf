import type { MessageDraft } from "../../thread/message.ts";
import type { SeedDraft } from "../../thread/seed.ts";

/**
 * Returns an error if a message would lose its tool calls because drafts of its kind cannot hold them. The text says
 * how to give them instead. Returns null if nothing would be lost.
 */
export const problemOfCalls = (drafts: readonly (MessageDraft | SeedDraft)[], mayCall: boolean): string | null => {
  for (const [index, draft] of drafts.entries()) {
    const which = drafts.length === 1 ? "the message" : `message ${index}`;
    const foreign = foreignCallsIn(draft);
    if (foreign !== undefined)
      return `${which} has "${foreign}", which is the chat format's name; read it by fromChatMessage, or give its calls as toolCalls of an assistant's message with their results`;
    if (!isGiven(draft, "toolCalls")) continue;
    if (draft.role !== "assistant")
      return `${which} is of role "${draft.role}" and has toolCalls; only an assistant calls tools`;
    if (!mayCall)
      return `${which} has toolCalls, which would be lost: calls stand in a thread with their results only; append the whole round, as "round.appended"`;
  }
  return null;
};

/**
 * Returns the name of the member that holds a message's tool calls in the chat format. This library would ignore that
 * member. Returns undefined if there is none.
 */
export const foreignCallsIn = (message: object): "tool_calls" | "function_call" | undefined =>
  foreignNames.find((name) => isGiven(message, name));

const foreignNames = ["tool_calls", "function_call"] as const;

/** Reads a member that the type does not declare, so its value may be anything. */
const isGiven = (draft: object, name: string): boolean => {
  const value: unknown = Reflect.get(draft, name);
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
};
