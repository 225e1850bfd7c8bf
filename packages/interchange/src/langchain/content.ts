import type { ContentPart, JsonObject, Part, ReasoningPart, RefusalPart } from "@colloquy/machine";
import { fieldsFor, foreignPart, foreignValue, isForeign, ownFields, providerOf } from "../exchange/foreign.ts";
import { isJsonObject } from "../exchange/json.ts";
import { dataText, imageIn, onlyText, type ReplyPart, saysNothing } from "../exchange/reading.ts";

/** The content of a stored message. */
type StoredContent = string | readonly (string | JsonObject)[] | null | undefined;

/**
 * Converts parts to content blocks; a single plain text becomes a string. Reasoning goes back only if it came from
 * LangChain blocks.
 */
export const contentOf = (parts: readonly Part[]): string | readonly JsonObject[] => {
  const blocks = parts.flatMap(blockOf);
  return blocks.length === 0 ? "" : (onlyText(blocks) ?? blocks);
};

/** Converts content to parts. Blocks that only LangChain's integrations know are kept for them. */
export const partsOf = (content: StoredContent): readonly ReplyPart[] => {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return (content ?? []).map((block) => (typeof block === "string" ? { type: "text", text: block } : partOf(block)));
};

/** Converts the content of a message that no model wrote. */
export const contentPartsOf = (content: StoredContent): readonly ContentPart[] =>
  partsOf(content).map((part) =>
    part.type === "reasoning" || part.type === "refusal" ? foreignPart("langchain", blockOf(part)[0] ?? {}) : part,
  );

const blockOf = (part: Part): readonly JsonObject[] => {
  switch (part.type) {
    case "text": {
      const { langchain: _, ...others } = part.provider ?? {};
      return [{ type: "text", text: part.text, ...ownFields(others), ...fieldsFor(part.provider, "langchain") }];
    }
    case "data":
      return [{ type: "text", text: dataText(part.field, part.value) }];
    case "image": {
      const { url, detail } = part;
      return [{ type: "image_url", image_url: detail === undefined ? { url } : { url, detail } }];
    }
    case "opaque": {
      if (!isForeign(part.value)) return [part.value];
      const own = foreignValue(part, "langchain");
      // The fields of a message that a result keeps among its parts are not a block.
      return own === undefined || own["type"] === fieldsType ? [] : [own];
    }
    case "reasoning":
    case "refusal": {
      const own = part.provider?.["langchain"];
      if (isJsonObject(own)) return [own];
      return part.type === "reasoning" ? [] : [{ type: "refusal", refusal: part.text }];
    }
    case "toolCall":
    case "toolResult":
      return [];
  }
};

/** The type of the part in which a result keeps the fields of its message. */
export const fieldsType = "colloquy_fields";

const partOf = (block: JsonObject): ReplyPart => {
  const { type, text, reasoning, thinking, refusal } = block;
  if (type === "text" && typeof text === "string") return textOf(block, text);
  if (type === "reasoning" && typeof reasoning === "string") return reasoningOf(block, reasoning);
  if (type === "thinking" && typeof thinking === "string") return reasoningOf(block, thinking);
  if (type === "refusal" && typeof refusal === "string") return refusalOf(block, refusal);
  const image = imagePart(block);
  if (image !== undefined) return image;
  // Chat servers accept these blocks. Only LangChain's integrations can convert others for their servers.
  const ofChat = type === "input_audio" || (type === "file" && isJsonObject(block["file"]));
  return ofChat ? { type: "opaque", value: block } : foreignPart("langchain", block);
};

const textOf = (block: JsonObject, text: string): ContentPart => {
  const { type: _, text: __, cache_control, ...langchain } = block;
  return { type: "text", text, ...providerOf({ cache_control, langchain }) };
};

const reasoningOf = (block: JsonObject, text: string): ReasoningPart => ({
  type: "reasoning",
  text,
  provider: { langchain: block },
});

const refusalOf = (block: JsonObject, text: string): RefusalPart =>
  Object.keys(block).length === 2
    ? { type: "refusal", text }
    : { type: "refusal", text, provider: { langchain: block } };

/** Reads an image that has only an address, in OpenAI's form or in LangChain's newer or older ones. */
const imagePart = (block: JsonObject): ContentPart | undefined => {
  const { type, image_url: image, url, data, mimeType, mime_type = mimeType, source_type: _, ...rest } = block;
  if (Object.values(rest).some((value) => !saysNothing(value))) return undefined;
  if (type === "image_url" && typeof image === "string") return { type: "image", url: image };
  if (type === "image_url" && isJsonObject(image)) return imageIn(image);
  if (type === "image" && typeof url === "string") return { type: "image", url };
  if (type !== "image" || typeof data !== "string" || typeof mime_type !== "string") return undefined;
  return { type: "image", url: `data:${mime_type};base64,${data}` };
};
