import type { JsonObject, Part } from "@colloquy/machine";
import type { CallPlace } from "../exchange/call-order.ts";
import { fieldsFor } from "../exchange/foreign.ts";
import { isJsonObject } from "../exchange/json-object.ts";
import type { ReplyPart } from "../exchange/reply-draft.ts";

// A reply has its content first and its calls last. Two members of `provider.responses` keep the original order of its
// items: `place`, of a call, and `message`, of the first part of a second message.

/** The place of a call among the items. */
export const placeOfItem: CallPlace = {
  in: (provider) => fieldsFor(provider, "responses")["place"],
  added: (provider, place) => ({ ...provider, responses: { ...fieldsFor(provider, "responses"), place } }),
};

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
