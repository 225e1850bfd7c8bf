import type { ReplyDraft } from "@colloquy/machine";
import fc from "fast-check";
import { jsonObjectArbitrary } from "./json.ts";
import { replyPartArbitrary } from "./message.ts";
import { recordOf } from "./record.ts";
import { nameArbitrary, textArbitrary } from "./text.ts";
import { type ToolNames, toolCallDraftArbitrary } from "./tool-call.ts";

const replyContent: fc.Arbitrary<NonNullable<ReplyDraft["content"]>> = fc.oneof(
  { weight: 3, arbitrary: textArbitrary },
  fc.array(replyPartArbitrary, { maxLength: 3 }),
);

const said = { content: replyContent, name: nameArbitrary, provider: jsonObjectArbitrary };

/**
 * Returns an arbitrary of a model's replies. About half of them call tools, often several at once; some have an empty
 * list of calls.
 */
export const replyArbitrary = (tools: ToolNames): fc.Arbitrary<ReplyDraft> => {
  const toolCalls = fc.array(toolCallDraftArbitrary(tools), { minLength: 1, maxLength: 4 });
  return fc.oneof(
    { weight: 5, arbitrary: recordOf({}, said) },
    { weight: 6, arbitrary: recordOf({ toolCalls }, said) },
    { weight: 1, arbitrary: fc.constantFrom({}, { toolCalls: [] }, { content: "", toolCalls: [] }) },
  );
};

/** Returns an arbitrary of a foreign assistant's replies with tool calls. */
export const roundReplyArbitrary = (tools: ToolNames): fc.Arbitrary<ReplyDraft> =>
  recordOf({ toolCalls: fc.array(toolCallDraftArbitrary(tools), { minLength: 1, maxLength: 3 }) }, said);

/** The shown part of a reply that ended early. Some of it is half a tool call, which must not be kept. */
export const partialArbitrary: fc.Arbitrary<ReplyDraft> = replyArbitrary(["half"]);
