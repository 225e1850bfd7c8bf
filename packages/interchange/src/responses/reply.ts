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

/** Items that were joined: each grows in place, since an output may have thousands. */
export interface Reply {
  /** The place of the first of them. */
  readonly index: number;
  readonly parts: ReplyPart[];
  readonly calls: ToolCallDraft[];
  /** Of the calls, the first that stand behind all parts so far. */
  behind: number;
  message: JsonObject | undefined;
}

/**
 * Whether an item of a conversation begins another reply: a second message item does, unless the reply has calls that wait
 * for their results.
 */
export const beginsAnother = (reply: Reply, added: ReplyItem): boolean =>
  added.message !== undefined && reply.message !== undefined && reply.calls.length === 0;

/** The reply, begun where there is none, with one item more. */
export const joined = (before: Reply | null, added: ReplyItem, lose: Lose, index: number): Reply => {
  const reply = before ?? { index, parts: [], calls: [], behind: 0, message: undefined };
  if (before !== null && (isBlank(added) || isBlank(before)))
    lose("", "an empty message of the model", "what stands beside it is the reply");
  const parts = reply.message === undefined || added.message === undefined ? added.parts : begunBy(added, lose);
  if (parts.length > 0) {
    for (const [place, call] of placedBefore(reply.parts.length, reply.calls.slice(reply.behind)).entries())
      reply.calls[reply.behind + place] = call;
    reply.behind = reply.calls.length;
  }
  reply.parts.push(...parts);
  if (added.call !== undefined) reply.calls.push(added.call);
  reply.message ??= added.message;
  return reply;
};

/** Whether it is a message item that says nothing. */
const isBlank = ({ parts, message, ...said }: ReplyItem | Reply): boolean =>
  message !== undefined && parts.length === 0 && !("calls" in said && said.calls.length > 0) && !("call" in said);

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
