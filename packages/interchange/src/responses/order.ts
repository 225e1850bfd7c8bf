import type { JsonObject, Part, ToolCallDraft, ToolCallPart } from "@colloquy/machine";
import { fieldsFor } from "../exchange/foreign.ts";
import { isJsonObject } from "../exchange/json-object.ts";
import type { ReplyPart } from "../exchange/reply-draft.ts";

// A reply says what it says first, and calls last. What that leaves unsaid of the order of its items is kept in two members
// of `provider.responses`: `place`, of a call, and `message`, of the first part of a second message.

/** The calls with the place where they stood: before the part of that index. Those that have one keep it. */
export const placedBefore = (index: number, calls: readonly ToolCallDraft[]): readonly ToolCallDraft[] =>
  calls.map((call) => {
    const fields = fieldsFor(call.provider, "responses");
    if ("place" in fields) return call;
    return { ...call, provider: { ...call.provider, responses: { ...fields, place: index } } };
  });

/** The parts of a message item behind another one, with its fields; null where the first of them can't have any. */
export const beginningMessage = (parts: readonly ReplyPart[], message: JsonObject): readonly ReplyPart[] | null => {
  const [first, ...others] = parts;
  if (first?.type !== "text" && first?.type !== "refusal") return null;
  const responses = { ...fieldsFor(first.provider, "responses"), message };
  return [{ ...first, provider: { ...first.provider, responses } }, ...others];
};

/** The fields of the message item that begins with a part; undefined where it goes on with the one before it. */
export const messageBegunBy = (part: Part): JsonObject | undefined => {
  if (part.type !== "text" && part.type !== "refusal") return undefined;
  const { message } = fieldsFor(part.provider, "responses");
  return isJsonObject(message) ? message : undefined;
};

/** The fields that an item or a part came with, without what is kept of the order. */
export const fieldsOf = (part: { readonly provider?: JsonObject }): JsonObject => {
  const { place: _place, message: _message, ...fields } = fieldsFor(part.provider, "responses");
  return fields;
};

/** The parts of a reply in the order of their items. */
export const inOrder = (parts: readonly Part[]): readonly Part[] => {
  const calls = parts.filter((part) => part.type === "toolCall");
  const said = parts.filter((part) => part.type !== "toolCall");
  return [...said.flatMap((part, index) => [...takenBefore(index, calls), part]), ...calls];
};

/** Takes the calls from the beginning of the list that stood before that part. */
const takenBefore = (index: number, calls: ToolCallPart[]): readonly Part[] => {
  const later = calls.findIndex((call) => !(placeOf(call) <= index));
  return calls.splice(0, later === -1 ? calls.length : later);
};

const placeOf = ({ provider }: ToolCallPart): number => {
  const { place } = fieldsFor(provider, "responses");
  return typeof place === "number" ? place : Number.POSITIVE_INFINITY;
};
