import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import type { ContentPart } from "@colloquy/machine";
import { wellFormed } from "@colloquy/machine/hosting";

/**
 * Converts a result for the model: texts unchanged, images as data URLs, and all other parts as descriptions. If there
 * is no text, structured content replaces it.
 */
export const partsOfResult = ({ content, structuredContent }: CallToolResult): readonly ContentPart[] => {
  const parts = content.map(partOf);
  const hasText = content.some(({ type }) => type === "text");
  return structuredContent === undefined || hasText
    ? parts
    : [...parts, { type: "text", text: JSON.stringify(wellFormed(structuredContent)) }];
};

/** Returns the texts of a result, for an error. */
export const textOfResult = (result: CallToolResult): string =>
  partsOfResult(result)
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n");

/** Returns the size of a result, in UTF-16 units. */
export const sizeOf = (parts: readonly ContentPart[]): number =>
  parts.reduce(
    (size, part) => size + (part.type === "text" ? part.text : part.type === "image" ? part.url : "").length,
    0,
  );

const partOf = (block: ContentBlock): ContentPart => {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return imageOf(block.mimeType, block.data);
    case "audio":
      return inWords(`audio, ${block.mimeType}, ${bytesOf(block.data)} bytes; it can't be shown`);
    case "resource_link": {
      const { uri, name, description, mimeType } = block;
      return inWords(["a resource", name, uri, mimeType, description].filter((word) => word !== undefined).join(", "));
    }
    case "resource": {
      const { resource } = block;
      const { uri, mimeType = "" } = resource;
      if ("text" in resource) return { type: "text", text: `[resource ${uri}]\n${resource.text}` };
      if (mimeType.startsWith("image/")) return imageOf(mimeType, resource.blob);
      return inWords(`resource ${uri}, ${mimeType || "binary"}, ${bytesOf(resource.blob)} bytes; it can't be shown`);
    }
  }
};

const inWords = (words: string): ContentPart => ({ type: "text", text: `[${words}]` });

const imageOf = (mimeType: string, data: string): ContentPart => ({
  type: "image",
  url: `data:${mimeType};base64,${data}`,
});

/** Returns the number of bytes of base64: three for four characters. */
const bytesOf = (data: string): number => Math.floor((data.replace(/=+$/, "").length * 3) / 4);
