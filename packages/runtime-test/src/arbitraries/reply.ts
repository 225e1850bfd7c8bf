import type { ReplyDraft } from "@colloquy/machine";
import fc from "fast-check";
import { jsonObjectArbitrary } from "./json.ts";
import { replyPartArbitrary } from "./message.ts";
import { nameArbitrary, textArbitrary } from "./text.ts";
import { type ToolNames, toolCallDraftArbitrary } from "./tool-call.ts";

const replyContent: fc.Arbitrary<NonNullable<ReplyDraft["content"]>> = fc.oneof(
  { weight: 3, arbitrary: textArbitrary },
  fc.array(replyPartArbitrary, { maxLength: 3 }),
);

/** What a model answers: about half of all replies ask for tools, often several at once; some for an empty list of them. */
export const replyArbitrary = (tools: ToolNames): fc.Arbitrary<ReplyDraft> => {
  const said = { content: replyContent, name: nameArbitrary, provider: jsonObjectArbitrary };
  const toolCalls = fc.array(toolCallDraftArbitrary(tools), { minLength: 1, maxLength: 4 });
  return fc.oneof(
    { weight: 5, arbitrary: fc.record(said, optional()) },
    { weight: 6, arbitrary: fc.record({ ...said, toolCalls }, optional("toolCalls")) },
    { weight: 1, arbitrary: fc.constantFrom({}, { toolCalls: [] }, { content: "", toolCalls: [] }) },
  );
};

/** What an assistant of somebody else's said, with tool calls. */
export const roundReplyArbitrary = (tools: ToolNames): fc.Arbitrary<ReplyDraft> =>
  fc.record(
    {
      content: replyContent,
      name: nameArbitrary,
      provider: jsonObjectArbitrary,
      toolCalls: fc.array(toolCallDraftArbitrary(tools), { minLength: 1, maxLength: 3 }),
    },
    optional("toolCalls"),
  );

/** What had been shown of a reply that ended early. Some of it is half a tool call, which must not be kept. */
export const partialArbitrary: fc.Arbitrary<ReplyDraft> = replyArbitrary(["half"]);

function optional<const Required extends string[]>(
  ...requiredKeys: Required
): { readonly requiredKeys: Required[number][]; readonly noNullPrototype: true } {
  return { requiredKeys, noNullPrototype: true };
}
