import type { JsonObject, Part, ToolCallDraft, ToolCallPart } from "@colloquy/machine";
import { fieldsFor } from "../exchange/foreign.ts";
import { isJsonObject } from "../exchange/json-object.ts";
import type { ReplyPart } from "../exchange/reply-draft.ts";

// A reply has its content first and its calls last. Two members of `provider.responses` keep the original order of its
// items: `place`, of a call, and `message`, of the first part of a second message.

/** Records the place of calls: before the part with that index. Calls with a place keep it. */
export const placedBefore = (index: number, calls: readonly ToolCallDraft[]): readonly ToolCallDraft[] =>
  calls.map((call) => {
    const fields = fieldsFor(call.provider, "responses");
    if ("place" in fields) return call;
    return { ...call, provider: { ...call.provider, responses: { ...fields, place: index } } };
  });

/** Stores the fields of a further message item in its first part; returns null if that part cannot hold them. */
export const beginningMessage = (parts: readonly ReplyPart[], message: JsonObject): readonly ReplyPart[] | null => {
  const [first, ...others] = parts;
  if (first?.type !== "text" && first?.type !== "refusal") return null;
  const responses = { ...fieldsFor(first.provider, "responses"), message };
  return [{ ...first, provider: { ...first.provider, responses } }, ...others];
};

/** Returns the fields of the message item that begins with a part; undefined if the part continues the one before. */
export const messageBegunBy = (part: Part): JsonObject | undefined => {
  if (part.type !== "text" && part.type !== "refusal") return undefined;
  const { message } = fieldsFor(part.provider, "responses");
  return isJsonObject(message) ? message : undefined;
};

/** Returns the original fields of an item or a part, without those about the order. */
export const fieldsOf = (part: { readonly provider?: JsonObject }): JsonObject => {
  const { place: _place, message: _message, ...fields } = fieldsFor(part.provider, "responses");
  return fields;
};

/** Returns the parts of a reply in the order of their items. */
export const inOrder = (parts: readonly Part[]): readonly Part[] => {
  const calls = parts.filter((part) => part.type === "toolCall");
  const said = parts.filter((part) => part.type !== "toolCall");
  return [...said.flatMap((part, index) => [...takenBefore(index, calls), part]), ...calls];
};

/** Removes and returns the leading calls that came before that part. */
const takenBefore = (index: number, calls: ToolCallPart[]): readonly Part[] => {
  const later = calls.findIndex((call) => !(placeOf(call) <= index));
  return calls.splice(0, later === -1 ? calls.length : later);
};

const placeOf = ({ provider }: ToolCallPart): number => {
  const { place } = fieldsFor(provider, "responses");
  return typeof place === "number" ? place : Number.POSITIVE_INFINITY;
};
