import type { ContentPart, ImagePart, JsonObject, Part, TextPart } from "@colloquy/machine";
import { isForeign, ownFields } from "../exchange/foreign.ts";
import { defined, isEmpty, isJsonObject } from "../exchange/json.ts";
import { dataText, imageIn, type ReplyPart } from "../exchange/reading.ts";

/** The content of a message on the wire. */
type WireContent = string | readonly (string | JsonObject)[] | null | undefined;

/** Fields of a wire part that its kind of part has no place for (`cache_control`, …). */
interface FromWire {
  readonly provider?: JsonObject;
}

/** Returns the content of a message on the wire: null if it is empty, a string if it is one plain text. */
export const contentToWire = (parts: readonly Part[]): string | null | readonly JsonObject[] => {
  const wire = parts.flatMap(partToWire);
  if (wire.length === 0) return null;
  const { type, text, ...rest } = wire[0] ?? {};
  return wire.length === 1 && type === "text" && typeof text === "string" && isEmpty(rest) ? text : wire;
};

/** Reads the content of a message: a string as it is, a list part by part. Null, "" and [] are no content. */
export const contentFromWire = (content: WireContent): string | readonly ContentPart[] =>
  typeof content === "string" ? content : (content ?? []).map(contentPartFromWire);

/** Reads the content of a reply, which may also hold reasoning and refusals. */
export const replyContentFromWire = (content: WireContent): readonly ReplyPart[] => {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return (content ?? []).map(replyPartFromWire);
};

const partToWire = (part: Part & FromWire): readonly JsonObject[] => {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text, ...ownFields(part.provider) }];
    case "data":
      return [{ type: "text", text: dataText(part.field, part.value) }];
    case "image":
      return [{ type: "image_url", image_url: { url: part.url, ...defined({ detail: part.detail }) } }];
    case "opaque":
      return isForeign(part.value) ? [] : [part.value];
    case "reasoning":
    case "refusal":
      // Only reasoning and refusals that came as content parts go back as such; others have their own fields.
      return isJsonObject(part.provider?.["part"]) ? [part.provider["part"]] : [];
    case "toolCall":
    case "toolResult":
      return [];
  }
};

const contentPartFromWire = (part: string | JsonObject): ContentPart => {
  if (typeof part === "string") return { type: "text", text: part };
  return textFromWire(part) ?? imageFromWire(part) ?? { type: "opaque", value: part };
};

const replyPartFromWire = (part: string | JsonObject): ReplyPart => {
  if (typeof part === "string") return { type: "text", text: part };
  const { type, thinking, refusal } = part;
  if (type === "thinking") return { type: "reasoning", text: thinkingText(thinking), provider: { part } };
  return type === "refusal" && typeof refusal === "string"
    ? { type: "refusal", text: refusal, provider: { part } }
    : contentPartFromWire(part);
};

const textFromWire = (part: JsonObject): (TextPart & FromWire) | undefined => {
  const { type, text, ...rest } = part;
  if (type !== "text" || typeof text !== "string") return undefined;
  return isEmpty(rest) ? { type, text } : { type, text, provider: rest };
};

/** An image with other fields is kept as an opaque part. */
const imageFromWire = ({ type, image_url: image, ...rest }: JsonObject): ImagePart | undefined =>
  type === "image_url" && isJsonObject(image) && isEmpty(rest) ? imageIn(image) : undefined;

/** Returns the text of thinking, which is a text or a list of text parts. */
const thinkingText = (thinking: JsonObject[string]): string => {
  if (typeof thinking === "string") return thinking;
  if (!Array.isArray(thinking)) return "";
  return thinking
    .map((part: unknown) => (isJsonObject(part) && typeof part["text"] === "string" ? part["text"] : ""))
    .join("");
};
