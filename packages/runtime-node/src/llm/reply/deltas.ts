import type { LlmDelta } from "@colloquy/host";
import type { ReplyDraft } from "@colloquy/machine";

/** The pieces of a reply that came in one. */
export const deltasOf = (reply: ReplyDraft): readonly LlmDelta[] => {
  const content =
    typeof reply.content === "string" ? [{ type: "text" as const, text: reply.content }] : (reply.content ?? []);
  const said = content.flatMap((part): LlmDelta[] => {
    const speaks = part.type === "text" || part.type === "reasoning" || part.type === "refusal";
    return speaks && part.text !== "" ? [{ type: part.type, text: part.text }] : [];
  });
  const called = (reply.toolCalls ?? []).map((call, index): LlmDelta => ({
    type: "toolCall",
    index,
    id: call.id,
    name: call.name,
    arguments: call.arguments,
  }));
  return [...said, ...called];
};
