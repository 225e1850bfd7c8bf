import { createHash } from "node:crypto";
import type { Json, JsonObject, Message } from "@colloquy/machine";
import { toChatMessage } from "@colloquy/interchange";

/**
 * A chat message in the canonical form in which recordings are compared. `content` is null if there is none, a text if
 * all parts are text, and otherwise the unchanged parts. Arguments stay the exact string. Refusal and reasoning are
 * left out, and so is the name of a tool message. A type and not an interface, so that it is assignable to JSON.
 */
export type CanonicalMessage = {
  readonly role: string;
  readonly content: Json;
  readonly tool_calls?: readonly CanonicalCall[];
  readonly function_call?: JsonObject;
  readonly tool_call_id?: Json;
  readonly name?: Json;
};

/** A tool call in canonical form. `id` and `name` are null if the provider sent none. */
export type CanonicalCall = {
  readonly id: string | null;
  readonly name: string | null;
  readonly arguments: string;
};

/** Returns the canonical form of a message in a chat request or response. A canonical message stays unchanged. */
export const canonicalOf = (wire: JsonObject): CanonicalMessage => {
  const { content, name, tool_call_id: toolCallId } = wire;
  const role = typeof wire["role"] === "string" ? wire["role"] : "";
  const calls = listOf(wire["tool_calls"]).map(canonicalCallOf);
  const functionCall = calledFunction(objectOf(wire["function_call"]) ?? {});
  return {
    role,
    content: contentOf(content),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(functionCall === null ? {} : { function_call: functionCall }),
    ...(toolCallId === null || toolCallId === undefined ? {} : { tool_call_id: toolCallId }),
    ...(isSaid(name) && role !== "tool" ? { name } : {}),
  };
};

/**
 * Returns the canonical form of a thread's message, converted by way of the chat format. A call that the provider sent
 * without an id has none.
 */
export const canonicalOfMessage = (message: Message): CanonicalMessage => {
  const known = canonicals.get(message);
  if (known !== undefined) return known;
  const canonical = canonicalOf(toChatMessage(message, { missingIds: "absent" }));
  canonicals.set(message, canonical);
  return canonical;
};

/** Writes canonical JSON: sorted keys, no spaces, absent members left out. */
export const canonicalJson = (value: Json | undefined): string => {
  if (value === null || typeof value !== "object") return JSON.stringify(value ?? null);
  if (isList(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join(",")}}`;
};

/** Returns the SHA-256 of a list of canonical messages, as recordings contain it: the hash of their canonical JSON. */
export const sha256OfMessages = (messages: readonly CanonicalMessage[]): string =>
  createHash("sha256")
    .update(`[${messages.map(textOfMessage).join(",")}]`, "utf8")
    .digest("hex");

/** Returns whether two canonical messages are the same. */
export const sameMessage = (left: CanonicalMessage, right: CanonicalMessage): boolean =>
  left === right || textOfMessage(left) === textOfMessage(right);

/** Returns a canonical message in the form of a chat request. */
export const wireOfCanonical = (message: CanonicalMessage): JsonObject => ({
  ...message,
  tool_calls: message.tool_calls?.map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
  })),
});

// A prompt repeats all messages of the one before, so each message is converted and serialised once.
const canonicals = new WeakMap<Message, CanonicalMessage>();
const texts = new WeakMap<CanonicalMessage, string>();

const textOfMessage = (message: CanonicalMessage): string => {
  const known = texts.get(message);
  if (known !== undefined) return known;
  const text = canonicalJson(message);
  texts.set(message, text);
  return text;
};

const contentOf = (content: Json | undefined): Json => {
  if (content === undefined || content === null || content === "") return null;
  if (!isList(content)) return content;
  if (content.length === 0) return null;
  const texts = content.map((part) => (objectOf(part)?.["type"] === "text" ? objectOf(part)?.["text"] : undefined));
  return texts.every((text) => typeof text === "string") ? texts.join("") || null : content;
};

const canonicalCallOf = (call: Json): CanonicalCall => {
  const object = objectOf(call) ?? {};
  // A call with neither member is already canonical.
  if (object["function"] === undefined && object["custom"] === undefined) return object as unknown as CanonicalCall;
  const asked = objectOf(object["function"]) ?? objectOf(object["custom"]) ?? {};
  return {
    id: typeof object["id"] === "string" ? object["id"] : null,
    name: typeof asked["name"] === "string" ? asked["name"] : null,
    arguments: argumentsOf(asked["arguments"] ?? asked["input"]),
  };
};

const calledFunction = ({ name, arguments: given }: JsonObject): JsonObject | null =>
  isSaid(name) || isSaid(given) ? { name, arguments: given } : null;

const argumentsOf = (value: Json | undefined): string =>
  typeof value === "string" ? value : JSON.stringify(value ?? null);

const isSaid = (value: Json | undefined): value is Json => value !== undefined && value !== null && value !== "";

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

const listOf = (value: Json | undefined): readonly Json[] => (isList(value) ? value : []);

const objectOf = (value: Json | undefined): JsonObject | undefined =>
  typeof value === "object" && value !== null && !isList(value) ? value : undefined;
