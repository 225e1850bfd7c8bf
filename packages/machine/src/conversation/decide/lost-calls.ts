import type { MessageDraft } from "../../thread/message.ts";
import type { SeedDraft } from "../../thread/seed.ts";

/** Where a message would lose its tool calls, which no draft of its kind has: the way out in words; null where it would not. */
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

/** The member of a message that holds its tool calls as the chat format does, where they would be ignored here; undefined where none does. */
export const foreignCallsIn = (message: object): "tool_calls" | "function_call" | undefined =>
  foreignNames.find((name) => isGiven(message, name));

const foreignNames = ["tool_calls", "function_call"] as const;

/** What was not declared may be anything. */
const isGiven = (draft: object, name: string): boolean => {
  const value: unknown = Reflect.get(draft, name);
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
};
