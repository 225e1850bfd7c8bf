import type { ContentPart, Json, JsonObject, OpaquePart, Part, ToolCallDraft, ToolCallPart } from "@colloquy/machine";
import { isEmpty, isJsonObject, presentOf, without } from "./json.ts";

/** The formats with parts and fields that no other format has. */
export type ForeignFormat = "responses" | "model" | "ui" | "langchain";

/**
 * Creates an opaque part for something that only one format knows (a built-in tool's item, a source, a custom part).
 * It goes back unchanged to that format, and to no other, not even into a prompt of another API.
 */
export const foreignPart = (format: ForeignFormat, value: JsonObject): OpaquePart => ({
  type: "opaque",
  value: { type: "foreign", format, value },
});

/** Returns the value of a part for a format; undefined if it did not come from that format. */
export const foreignValue = (part: Part | undefined, format: ForeignFormat): JsonObject | undefined => {
  if (part?.type !== "opaque" || !isForeign(part.value) || part.value["format"] !== format) return undefined;
  return isJsonObject(part.value["value"]) ? part.value["value"] : undefined;
};

/** Returns whether only one format knows an opaque value. */
export const isForeign = (value: JsonObject): boolean =>
  value["type"] === "foreign" && typeof value["format"] === "string" && isJsonObject(value["value"]);

/** Returns whether a draft has a part that only its own format knows. */
export const hasForeign = (content: string | readonly { readonly type: string }[] | undefined): boolean =>
  typeof content !== "string" && (content ?? []).some((part) => isOpaque(part) && isForeign(part.value));

const isOpaque = (part: { readonly type: string }): part is Extract<ContentPart, { readonly type: "opaque" }> =>
  part.type === "opaque";

/** The member of a call's `provider` with the index of the part that the call preceded. */
export const aiPlace = "aiPlace";

/** The member of a result's first text that holds the AI SDK's options of the result itself, such as a cache mark. */
export const aiResult = "aiResult";

/**
 * The members of a `provider` that belong to other formats: `responses` (fields of Responses items), `ai` (the AI
 * SDK's `providerOptions`), `aiPlace` (the place of a call in its message), `ui` (fields of UI messages), `output`
 * (the type of an AI SDK tool output), `aiResult` (options of its results), `langchain` (fields of its messages).
 */
export const foreignFields: readonly string[] = ["responses", "ai", aiPlace, "ui", "output", aiResult, "langchain"];

/** Returns a `provider` without a member; undefined if nothing else is left. */
export const withoutField = (provider: JsonObject | undefined, name: string): JsonObject | undefined => {
  const others = without(provider ?? {}, [name]);
  return isEmpty(others) ? undefined : others;
};

/** Returns a `provider` without the members of other formats; undefined for none. */
export const ownFields = (provider: JsonObject | undefined): JsonObject | undefined =>
  provider === undefined ? undefined : without(provider, foreignFields);

/** Returns a format's members of a `provider`; empty if there are none. */
export const fieldsFor = (provider: JsonObject | undefined, format: "responses" | "ui" | "langchain"): JsonObject => {
  const fields = provider?.[format];
  return isJsonObject(fields) ? fields : {};
};

/** Returns a member `provider` with the non-empty fields; an empty object if there are none. */
export const providerOf = (fields: JsonObject): { readonly provider?: JsonObject } => {
  const present = presentOf(fields);
  return isEmpty(present) ? {} : { provider: present };
};

// A reply has its content first and its calls last. If content came after a call, a member of the call's `provider`
// has the index of the part that it preceded: its place.

/** Reads and writes the place of a call in its `provider`. */
export interface CallPlace {
  readonly in: (provider: JsonObject | undefined) => Json | undefined;
  readonly added: (provider: JsonObject | undefined, place: number) => JsonObject;
}

/** The place of a call in the AI SDK's messages. */
export const placeOfAi: CallPlace = {
  in: (provider) => provider?.[aiPlace],
  added: (provider, place) => ({ ...provider, [aiPlace]: place }),
};

/** Records the place of calls: before the part with that index. Calls with a place keep it. */
export const placedBefore = (
  index: number,
  calls: readonly ToolCallDraft[],
  place: CallPlace,
): readonly ToolCallDraft[] =>
  calls.map((call) =>
    place.in(call.provider) === undefined ? { ...call, provider: place.added(call.provider, index) } : call,
  );

/** Returns the parts of a reply in their order of arrival. Calls without a place come last. */
export const inOrder = (parts: readonly Part[], place: CallPlace): readonly Part[] => {
  const calls = parts.filter((part) => part.type === "toolCall");
  const said = parts.filter((part) => part.type !== "toolCall");
  return [...said.flatMap((part, index) => [...takenBefore(index, calls, place), part]), ...calls];
};

/** Removes and returns the leading calls that came before that part. */
const takenBefore = (index: number, calls: ToolCallPart[], place: CallPlace): readonly Part[] => {
  const later = calls.findIndex(({ provider }) => {
    const at = place.in(provider);
    return typeof at !== "number" || at > index;
  });
  return calls.splice(0, later === -1 ? calls.length : later);
};
