import { fromChatMessage } from "@colloquy/interchange";
import { type Message, messageFromDraft, messageFromReply, messageFromResult, type SeedDraft } from "@colloquy/machine";
import type { CaseFile, RecordedChatCase, RecordedStep } from "@colloquy/runtime-test/recordings";
import * as Either from "fp-ts/lib/Either.js";

/**
 * Returns the messages in the conversations of a file, each once however often it occurs. Items that are not messages
 * are left out.
 */
export const messagesOf = ({ common, records }: CaseFile): readonly Message[] => {
  const messages = new Map<string, Message>();
  for (const recorded of records) {
    // Of the items of the Responses API a recording keeps too little to count.
    if (recorded.api === "responses") continue;
    // The result of a call names it by an id only.
    const names = new Map<string, string>();
    for (const wire of wiresOf(recorded, common?.system ?? null)) {
      const draft = fromChatMessage(wire);
      if (Either.isLeft(draft)) continue;
      const message = messageOf(draft.right, names);
      messages.set(message.digest, message);
    }
  }
  return [...messages.values()];
};

const wiresOf = (recorded: RecordedChatCase, common: unknown): readonly unknown[] => {
  const system = recorded.system === "@common" ? common : recorded.system;
  return [
    ...(system === null ? [] : [{ role: recorded.system_role ?? "system", content: system }]),
    ...(recorded.seed ?? []),
    ...recorded.steps.map(wireOf),
  ];
};

const wireOf = (step: RecordedStep): unknown => {
  switch (step.type) {
    case "user":
      return { role: "user", content: step.content };
    case "llm":
      return { ...step.message, role: "assistant" };
    case "tool":
      return { role: "tool", tool_call_id: step.tool_call_id, content: step.content };
    case "message":
      return step.message;
  }
};

const messageOf = (draft: SeedDraft, names: Map<string, string>): Message => {
  if (draft.role === "tool") {
    const name = names.get(draft.toolCallId ?? "") ?? "";
    return messageFromResult({ callId: "1", providerCallId: draft.toolCallId, name }, "completed", draft.content);
  }
  if (draft.role !== "assistant") return messageFromDraft("1", draft);
  const reply = messageFromReply("1", "1", draft);
  for (const part of reply.parts) if (part.type === "toolCall") names.set(part.providerCallId ?? "", part.name);
  return reply;
};
