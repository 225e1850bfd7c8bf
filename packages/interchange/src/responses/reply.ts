import type { JsonObject, ReplyDraft, ToolCallDraft } from "@colloquy/machine";
import { placedBefore } from "../exchange/call-order.ts";
import { providerOf } from "../exchange/foreign.ts";
import { type Lose, loseRest } from "../exchange/loss.ts";
import { plainText, type ReplyPart } from "../exchange/reply-draft.ts";
import { beginningMessage, placeOfItem } from "./order.ts";

/** The contribution of a model's item to a reply. Consecutive items form one reply. */
export interface ReplyItem {
  readonly parts: readonly ReplyPart[];
  readonly call?: ToolCallDraft;
  /** The other fields of a message item. */
  readonly message?: JsonObject;
}

/** A reply made of items. It grows in place, since an output may have thousands of items. */
export interface Reply {
  /** The index of the first item. */
  readonly index: number;
  readonly parts: ReplyPart[];
  readonly calls: ToolCallDraft[];
  /** The index of the first call after all parts so far. */
  behind: number;
  message: JsonObject | undefined;
}

/**
 * Returns whether an item begins another reply. A second message item does, unless the reply has calls that wait for
 * their results.
 */
export const beginsAnother = (reply: Reply, added: ReplyItem): boolean =>
  added.message !== undefined && reply.message !== undefined && reply.calls.length === 0;

/** Adds an item to a reply, or starts one. */
export const joined = (before: Reply | null, added: ReplyItem, lose: Lose, index: number): Reply => {
  const reply = before ?? { index, parts: [], calls: [], behind: 0, message: undefined };
  if (before !== null && (isBlank(added) || isBlank(before)))
    lose("", "an empty message of the model", "what stands beside it is the reply");
  const parts = reply.message === undefined || added.message === undefined ? added.parts : begunBy(added, lose);
  if (parts.length > 0) {
    const calls = placedBefore(reply.parts.length, reply.calls.slice(reply.behind), placeOfItem);
    for (const [place, call] of calls.entries()) reply.calls[reply.behind + place] = call;
    reply.behind = reply.calls.length;
  }
  reply.parts.push(...parts);
  if (added.call !== undefined) reply.calls.push(added.call);
  reply.message ??= added.message;
  return reply;
};

/** Returns whether it is an empty message item. */
const isBlank = ({ parts, message, ...said }: ReplyItem | Reply): boolean =>
  message !== undefined && parts.length === 0 && !("calls" in said && said.calls.length > 0) && !("call" in said);

/** Returns the draft of a reply. */
export const draftOf = ({ parts, calls, message }: Reply): ReplyDraft => ({
  ...(parts.length === 0 ? {} : { content: plainText(parts) ?? parts }),
  ...(calls.length === 0 ? {} : { toolCalls: calls }),
  ...providerOf({ responses: message ?? {} }),
});

/** Returns the parts of a second message item. */
const begunBy = ({ parts, message = {} }: ReplyItem, lose: Lose): ReplyItem["parts"] => {
  const begun = beginningMessage(parts, message);
  if (begun === null) loseRest(lose, "", message, "it joins the message before it, which is a part of the same reply");
  return begun ?? parts;
};
