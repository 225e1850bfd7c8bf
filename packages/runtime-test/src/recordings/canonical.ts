import { toChatMessage } from "@colloquy/interchange";
import type { Json, JsonObject, Message } from "@colloquy/machine";
import { createHash } from "node:crypto";

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

/** Returns the canonical form of a thread's message. A call that the provider sent without an id has none. */
export const canonicalOfMessage: (message: Message) => CanonicalMessage = onceFor((message: Message) =>
  canonicalOf(toChatMessage(message, { missingIds: "absent" })),
);

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

export const sameMessage = (left: CanonicalMessage, right: CanonicalMessage): boolean =>
  left === right || textOfMessage(left) === textOfMessage(right);

export const wireOfCanonical = (message: CanonicalMessage): JsonObject => ({
  ...message,
  tool_calls: message.tool_calls?.map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
  })),
});

const textOfMessage: (message: CanonicalMessage) => string = onceFor((message: CanonicalMessage) =>
  canonicalJson(message),
);

/** A prompt repeats all messages of the one before, so each message is converted and serialised once. */
function onceFor<Given extends object, Made>(make: (given: Given) => Made): (given: Given) => Made {
  const known = new WeakMap<Given, { readonly made: Made }>();
  return (given) => {
    const found = known.get(given) ?? { made: make(given) };
    known.set(given, found);
    return found.made;
  };
}

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

export const objectOf = (value: Json | undefined): JsonObject | undefined =>
  typeof value === "object" && value !== null && !isList(value) ? value : undefined;

/**
 * An item of the Responses API in the canonical form in which recordings are compared. A message has its role and
 * content. A function call has its id, name and exact arguments; a function output has its call and its output. Every
 * other item (reasoning, a built-in tool's call) has only `type` and `id`. A type and not an interface, so that it is
 * assignable to JSON.
 */
export type CanonicalItem = { readonly type: string } & { readonly [field: string]: Json };

/** Returns the canonical form of an item in a request or a response. A canonical item stays unchanged. */
export const canonicalItemOf = (item: JsonObject): CanonicalItem => {
  const type = item["type"] ?? (item["role"] === undefined ? "item_reference" : "message");
  const { role = null, call_id = null, name = null, arguments: written = null } = item;
  switch (type) {
    case "message":
      return { type, role, content: itemContentOf(item["content"]) };
    case "function_call":
      return { type, call_id, name, arguments: written };
    case "function_call_output":
      return { type, call_id, output: itemContentOf(item["output"]) };
    default:
      return { type: typeof type === "string" ? type : "", id: item["id"] ?? call_id };
  }
};

/** Returns the canonical form of a request's `input`, which may be a text. */
export const canonicalInput = (input: Json | undefined): readonly CanonicalItem[] =>
  typeof input === "string"
    ? [{ type: "message", role: "user", content: input }]
    : // The items of a request are objects.
      (Array.isArray(input) ? (input as readonly JsonObject[]) : []).map(canonicalItemOf);

/** Returns the SHA-256 of a list of canonical items, as recordings contain it. */
export const sha256OfItems = (items: readonly CanonicalItem[]): string =>
  createHash("sha256").update(canonicalJson(items), "utf8").digest("hex");

/**
 * Returns whether two canonical items have the same content. Parts other than texts are compared without empty members
 * (null, an empty list), because clients differ in which of them they write.
 */
export const sameItem = (left: CanonicalItem, right: CanonicalItem): boolean =>
  canonicalJson(comparable(left)) === canonicalJson(comparable(right));

const itemContentOf = (content: Json | undefined): Json => {
  if (!isList(content)) return content ?? null;
  const texts = content.map((part) => objectOf(part)?.["text"]);
  return texts.every((text) => typeof text === "string") ? texts.join("") : content;
};

const comparable = (item: CanonicalItem): Json =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]): [string, Json] => [
      name,
      name === "content" || name === "output" ? comparableContent(value) : value,
    ]),
  );

/** Treats no content, an empty text and an empty list as the same. */
const comparableContent = (content: Json): Json => {
  if (content === null || (isList(content) && content.length === 0)) return "";
  if (!isList(content)) return content;
  return content.map((part) => {
    const object = objectOf(part);
    return object === undefined
      ? part
      : Object.fromEntries(Object.entries(object).filter(([, value]) => !saysNothing(value)));
  });
};

const saysNothing = (value: Json | undefined): boolean =>
  value === undefined || value === null || (isList(value) && value.length === 0);

/** The first violation of the protocol of rounds in a list of messages. */
export interface ProtocolProblem {
  /** From 0; the length of the list if something is missing at its end. */
  readonly index: number;
  readonly reason: string;
}

/**
 * Returns why no machine that keeps rounds whole can send these messages, or null. One result for each call must
 * directly follow an assistant message with calls, in call order, and no result occurs without its call. Only the
 * recording is checked, so that a fault of the machine never counts as one of the recording.
 */
export const protocolProblemOf = (messages: readonly CanonicalMessage[]): ProtocolProblem | null => {
  let expected: readonly CanonicalCall[] = [];
  for (const [index, message] of messages.entries()) {
    const call = expected[0];
    const reason = call === undefined ? problemOutside(message) : problemInRound(message, call);
    if (reason !== null) return { index, reason: `message ${index} ${reason}` };
    expected = call === undefined ? (message.tool_calls ?? []) : expected.slice(1);
  }
  const missing = expected[0];
  return missing === undefined
    ? null
    : { index: messages.length, reason: `the result of call ${idNamed(missing.id)} is missing at its end` };
};

const problemOutside = (message: CanonicalMessage): string | null => {
  if (message.role === "tool")
    return `is a result (of ${idNamed(message.tool_call_id)}) that no message just before it asked for`;
  return message.role === "assistant" || message.tool_calls === undefined ? null : `(${message.role}) asks for tools`;
};

const problemInRound = (message: CanonicalMessage, call: CanonicalCall): string | null => {
  if (message.role !== "tool") return `(${message.role}) stands where the result of call ${idNamed(call.id)} should`;
  return (message.tool_call_id ?? null) === call.id
    ? null
    : `is the result of ${idNamed(message.tool_call_id)} where that of call ${idNamed(call.id)} should stand`;
};

const idNamed = (id: unknown): string => (id === null || id === undefined ? "without an id" : JSON.stringify(id));
