import { canonicalText, type Json, type JsonObject, type Message, type ToolDeclaration } from "@colloquy/machine";
import { type ChatMessage, toChatMessages } from "@colloquy/interchange";
import type { LeftOutBecause } from "../examples/example.ts";
import { isObject } from "./row.ts";

/** The differences between formats. */
export interface Dialect {
  /** Arguments of calls: as the text that the model wrote, or as an object. */
  readonly arguments: "text" | "object";
  /** Whether user messages may contain images. */
  readonly images: boolean;
}

/** Messages in the form of a data set, or the reason why that is impossible. */
export type WireMessages = { readonly messages: readonly JsonObject[] } | { readonly because: LeftOutBecause };

/** Notes a part of a message that a data set cannot contain. */
export type LoseField = (what: string, why: string) => void;

/**
 * Converts messages to the form of chat completions, with only the members that trainers know: role, content, name,
 * tool calls, and a result's call id. Contents are texts, unless they contain an image.
 */
export const wireMessages = (messages: readonly Message[], dialect: Dialect, lose: LoseField): WireMessages => {
  const { value, losses } = toChatMessages(messages);
  // The format itself writes weights, and a row may end with calls.
  for (const { index, path, what, why } of losses)
    if (
      !(path === "metadata" && isWeight(messages[index])) &&
      !(index === messages.length - 1 && what.startsWith("no result for "))
    )
      lose(what, why);
  const wire: JsonObject[] = [];
  for (const message of value) {
    const content = contentOf(message, dialect, lose);
    const calls = callsOf(message, dialect);
    if (content === null || calls === null) return { because: "content" };
    if (content === "" && calls.length === 0 && message.role !== "tool") return { because: "empty" };
    for (const field of Object.keys(message))
      if (!known.includes(field)) lose(`the field "${field}"`, "trainers do not know it");
    if (message.role === "developer") lose('the role "developer"', "trainers know it as system");
    wire.push({
      role: message.role === "developer" ? "system" : message.role,
      content,
      ...(message.name === undefined || message.name === "" ? {} : { name: message.name }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...(message.tool_call_id === undefined ? {} : { tool_call_id: message.tool_call_id }),
    });
  }
  return { messages: wire };
};

const isWeight = (message: Message | undefined): boolean => canonicalText(message?.metadata ?? {}) === '{"weight":0}';

/** Converts a tool to the form of chat completions. */
export const wireTool = ({ name, description, parameters }: ToolDeclaration): JsonObject => ({
  type: "function",
  function: {
    name,
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined ? {} : { parameters }),
  },
});

const known: readonly string[] = ["role", "content", "name", "tool_calls", "tool_call_id", "refusal"];

/** Returns null if the format does not support the content. */
const contentOf = (
  message: ChatMessage,
  { images }: Dialect,
  lose: LoseField,
): string | readonly JsonObject[] | null => {
  const { content, refusal, role } = message;
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
  const texts = parts.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []));
  if (refusal !== undefined) lose("a refusal", "it is written as a text");
  if (texts.length === parts.length) {
    const all = refusal === undefined ? texts : [...texts, refusal];
    if (all.length > 1) lose("where the parts of a content begin and end", "they are written as one text");
    return all.filter((text) => text !== "").join("\n");
  }
  if (!images || role !== "user" || parts.some(({ type }) => type !== "text" && type !== "image_url")) return null;
  return parts.map(({ type, text, image_url: image }): JsonObject =>
    type === "text" ? { type, text } : { type, image_url: image },
  );
};

const callsOf = ({ tool_calls: calls = [] }: ChatMessage, dialect: Dialect): readonly JsonObject[] | null => {
  const written = calls.flatMap(({ id, type, function: called }): readonly JsonObject[] => {
    if (type !== "function" || !isObject(called) || typeof called["arguments"] !== "string") return [];
    const given = dialect.arguments === "text" ? called["arguments"] : objectIn(called["arguments"]);
    return [{ ...(id === undefined ? {} : { id }), type, function: { name: called["name"], arguments: given } }];
  });
  return written.length === calls.length ? written : null;
};

/** Returns the arguments as an object; other arguments are a text in every format. */
const objectIn = (text: string): Json => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : text;
  } catch {
    return text;
  }
};
