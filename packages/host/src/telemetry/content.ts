import { contentText, type ContentPart, type Message, type Part } from "@colloquy/machine";

/**
 * Formats messages as one attribute, by the conventions. Provider fields and parts of unknown content are left out.
 */
export const messagesText = (messages: readonly Message[]): string =>
  JSON.stringify(
    messages.map(({ role, name, parts }) => ({
      role: role === "developer" ? "system" : role,
      parts: parts.map(partOf),
      ...(name === undefined ? {} : { name }),
    })),
  );

/** Returns a tool's result as the model reads it. */
export const resultText = (content: string | readonly ContentPart[] | null): string =>
  typeof content === "string" ? content : contentText(content ?? []);

const partOf = (part: Part): object => {
  switch (part.type) {
    case "text":
    case "reasoning":
    case "refusal":
      return { type: part.type, content: part.text };
    case "data":
      return { type: "data", name: part.field, content: part.value };
    case "image":
      return imageOf(part.url);
    case "opaque":
      return { type: typeof part.value["type"] === "string" ? part.value["type"] : "opaque" };
    case "toolCall":
      return { type: "tool_call", id: part.callId, name: part.name, arguments: argumentsOf(part.arguments) };
    case "toolResult":
      return { type: "tool_call_response", id: part.callId, response: contentText(part.content) };
  }
};

const imageOf = (url: string): object => {
  const [, type, content] = /^data:([^;,]*);base64,(.*)$/su.exec(url) ?? [];
  if (content === undefined) return { type: "uri", modality: "image", uri: url };
  return { type: "blob", modality: "image", mime_type: type, content };
};

/** Parses arguments. A model may have written anything. */
const argumentsOf = (written: string): unknown => {
  try {
    return JSON.parse(written);
  } catch {
    return written;
  }
};
