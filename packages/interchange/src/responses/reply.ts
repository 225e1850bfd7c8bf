import type { JsonObject, ReplyDraft, ToolCallDraft } from "@colloquy/machine";
import { providerOf } from "../exchange/foreign.ts";
import { type Lose, loseRest } from "../exchange/loss.ts";
import { plainText, type ReplyPart } from "../exchange/reply-draft.ts";
import { beginningMessage, placedBefore } from "./order.ts";

/** What an item of the model adds to a reply; consecutive ones are joined to one reply. */
export interface ReplyItem {
  readonly parts: readonly ReplyPart[];
  readonly call?: ToolCallDraft;
  /** The other fields of a message item. */
  readonly message?: JsonObject;
}

/** Items that were joined. */
export interface Reply extends Omit<ReplyItem, "call"> {
  /** The place of the first of them. */
  readonly index: number;
  readonly calls: readonly ToolCallDraft[];
}

/**
 * Whether an item of a conversation begins another reply: a second message item does, unless the reply has calls that wait
 * for their results.
 */
export const beginsAnother = (reply: Reply, added: ReplyItem): boolean =>
  added.message !== undefined && reply.message !== undefined && reply.calls.length === 0;

/** The reply with one item more. */
export const joined = (reply: Reply | null, added: ReplyItem, lose: Lose, index: number): Reply => {
  if (reply === null) return { index, parts: added.parts, calls: callsOf(added), ...fieldsOf(added.message) };
  const begun = reply.message === undefined || added.message === undefined ? added.parts : begunBy(added, lose);
  const calls = added.parts.length === 0 ? reply.calls : placedBefore(reply.parts.length, reply.calls);
  return {
    index: reply.index,
    parts: [...reply.parts, ...begun],
    calls: [...calls, ...callsOf(added)],
    ...fieldsOf(reply.message ?? added.message),
  };
};

/** What a model said and called. */
export const draftOf = ({ parts, calls, message }: Reply): ReplyDraft => ({
  ...(parts.length === 0 ? {} : { content: plainText(parts) ?? parts }),
  ...(calls.length === 0 ? {} : { toolCalls: calls }),
  ...providerOf({ responses: message ?? {} }),
});

/** The parts of a second message item. */
const begunBy = ({ parts, message = {} }: ReplyItem, lose: Lose): ReplyItem["parts"] => {
  const begun = beginningMessage(parts, message);
  if (begun === null) loseRest(lose, "", message, "it joins the message before it, which is a part of the same reply");
  return begun ?? parts;
};

const callsOf = ({ call }: ReplyItem): readonly ToolCallDraft[] => (call === undefined ? [] : [call]);

const fieldsOf = (message: JsonObject | undefined): Pick<ReplyItem, "message"> =>
  message === undefined ? {} : { message };
