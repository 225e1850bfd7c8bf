import type {
  JsonObject,
  ContentPart,
  ImagePart,
  OpaquePart,
  Part,
  ReasoningPart,
  RefusalPart,
  TextPart,
} from "@colloquy/machine";
import type { WireMessage } from "./wire-message.ts";
import { isJsonObject } from "../exchange/json-object.ts";
import { isForeign, ownFields } from "../exchange/foreign.ts";

type ReplyPart = ContentPart | ReasoningPart | RefusalPart;

/** Fields of a wire part that its kind of part has no place for (`cache_control`, …). */
interface FromWire {
  readonly provider?: JsonObject;
}

/** Returns the content of a message on the wire: null if it is empty, a string if it is one plain text. */
export const contentToWire = (parts: readonly Part[]): string | null | readonly JsonObject[] => {
  const wire = parts.flatMap(partToWire);
  const [first, second] = wire;
  if (first === undefined) return null;
  return second === undefined && isPlainText(first) ? first.text : wire;
};

/** Reads the content of a message: a string as it is, a list part by part. Null, "" and [] are no content. */
export const contentFromWire = (content: WireMessage["content"]): string | readonly ContentPart[] =>
  typeof content === "string" ? content : (content ?? []).map(contentPartFromWire);

/** Reads the content of a reply, which may also hold reasoning and refusals. */
export const replyContentFromWire = (content: WireMessage["content"]): readonly ReplyPart[] => {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return (content ?? []).map(replyPartFromWire);
};

const partToWire = (part: Part & FromWire): readonly JsonObject[] => {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text, ...ownFields(part.provider) }];
    case "data":
      return [{ type: "text", text: `${part.field}: ${JSON.stringify(part.value)}` }];
    case "image":
      return [{ type: "image_url", image_url: imageToWire(part) }];
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

const imageToWire = (part: ImagePart): JsonObject =>
  part.detail === undefined ? { url: part.url } : { url: part.url, detail: part.detail };

const isPlainText = (part: JsonObject): part is JsonObject & { readonly text: string } =>
  part["type"] === "text" && typeof part["text"] === "string" && Object.keys(part).length === 2;

const contentPartFromWire = (part: string | JsonObject): ContentPart => {
  if (typeof part === "string") return { type: "text", text: part };
  return textFromWire(part) ?? imageFromWire(part) ?? { type: "opaque", value: part };
};

const replyPartFromWire = (part: string | JsonObject): ReplyPart => {
  if (typeof part !== "string") {
    if (part["type"] === "thinking")
      return { type: "reasoning", text: thinkingText(part["thinking"]), provider: { part } };
    if (part["type"] === "refusal" && typeof part["refusal"] === "string")
      return refusalFromWire(part, part["refusal"]);
  }
  return contentPartFromWire(part);
};

const textFromWire = (part: JsonObject): (TextPart & FromWire) | undefined => {
  const { type, text, ...rest } = part;
  if (type !== "text" || typeof text !== "string") return undefined;
  return Object.keys(rest).length === 0 ? { type, text } : { type, text, provider: rest };
};

/** Reads an image with only a URL and a detail. An image with other fields is kept as an opaque part. */
const imageFromWire = (part: JsonObject): ImagePart | OpaquePart | undefined => {
  const { type, image_url: image, ...rest } = part;
  if (type !== "image_url" || !isJsonObject(image) || Object.keys(rest).length > 0) return undefined;
  const { url, detail, ...others } = image;
  if (typeof url !== "string" || Object.keys(others).length > 0) return undefined;
  if (typeof detail === "string") return { type: "image", url, detail };
  return detail === undefined ? { type: "image", url } : undefined;
};

const refusalFromWire = (part: JsonObject, text: string): RefusalPart => {
  const refusal: RefusalPart & FromWire = { type: "refusal", text, provider: { part } };
  return refusal;
};

/** Returns the text of thinking, which is a text or a list of text parts. */
const thinkingText = (thinking: JsonObject[string]): string => {
  if (typeof thinking === "string") return thinking;
  if (!Array.isArray(thinking)) return "";
  return thinking
    .map((part: unknown) => (isJsonObject(part) && typeof part["text"] === "string" ? part["text"] : ""))
    .join("");
};
