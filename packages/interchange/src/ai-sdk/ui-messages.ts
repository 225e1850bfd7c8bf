import type * as Either from "fp-ts/lib/Either.js";
import {
  type JsonObject,
  type Message,
  type Part,
  toolCallsOf,
  toolResultOf,
  type ToolResultPart,
} from "@colloquy/machine";
import { exported, type Exported, type Round } from "../exchange/export.ts";
import { fieldsFor, foreignValue } from "../exchange/foreign.ts";
import { importConversation, type Imported, type ImportOptions } from "../exchange/import-conversation.ts";
import { caught, type ImportProblem } from "../exchange/import-problem.ts";
import { defined, isEmpty, isJsonObject, presentOf } from "../exchange/json.ts";
import { aiFileOf } from "./file.ts";
import { aiReasons } from "./model-messages.ts";
import { ourName, underName } from "./provider-options.ts";
import { aiTextOf } from "./text.ts";
import { readUiMessages } from "./ui-reading.ts";
import { toolPartOf, type UiMessagePart, withoutUi } from "./ui-tool.ts";

/** A message in the AI SDK's form for people (`UIMessage`), as plain JSON. */
export interface UiMessage {
  readonly id: string;
  readonly role: "system" | "user" | "assistant";
  readonly parts: readonly UiMessagePart[];
  readonly metadata?: JsonObject;
}

/**
 * Converts a conversation to the `UIMessage`s of the AI SDK (7), as plain JSON. All messages of the model up to the
 * next user message become one message, with a `step-start` before each step; a call and its result become one part.
 * Fields that the SDK has no place for are under `colloquy` in the provider metadata, where an import reads them.
 * `losses` lists everything that cannot be kept.
 */
export const toUiMessages = (messages: readonly Message[]): Exported<readonly UiMessage[]> =>
  exported(messages, {
    continues,
    write: (said, round) => [uiMessage(said, round)],
    read: readUiMessages,
    reasons: aiReasons,
  });

/**
 * Reads a conversation of stored `UIMessage`s. Returns an error that names the invalid message or part, or the call
 * without a result, and how to fix it. Sources, data parts and calls that a provider ran itself are kept for the AI
 * SDK.
 */
export const fromUiMessages = (
  messages: unknown,
  options: ImportOptions = {},
): Either.Either<ImportProblem, Imported> => caught(() => importConversation(readUiMessages(messages), options));

/** An assistant message with metadata or its own UI id begins another UI message. */
const continues = (message: Message, first: Message): boolean => {
  if (first.role !== "assistant" || message.role === "tool") return first.role === "assistant";
  return message.role === "assistant" && message.metadata === undefined && ownId(message) === undefined;
};

const ownId = ({ provider }: Message): string | undefined => {
  const { id } = fieldsFor(provider, "ui");
  return typeof id === "string" ? id : undefined;
};

const uiMessage = (group: readonly Message[], round: Round): UiMessage => {
  const [first] = group;
  const { role = "system", metadata } = first ?? {};
  const results = new Map(group.flatMap((each) => toolResultOf(each) ?? []).map((result) => [result.callId, result]));
  return {
    id: (first === undefined ? undefined : ownId(first)) ?? first?.id ?? "",
    role: role === "developer" ? "system" : role === "tool" ? "assistant" : role,
    parts: group.flatMap((message) => (message.role === "tool" ? [] : partsOf(message, results, round))),
    ...defined({ metadata }),
  };
};

const partsOf = (
  message: Message,
  results: ReadonlyMap<string, ToolResultPart>,
  { ids }: Round,
): readonly UiMessagePart[] => {
  const said = message.parts.flatMap(uiPartOf);
  const asked = toolCallsOf(message);
  const calls = asked.map((call) => {
    const isOnlyOne = asked.filter(({ providerCallId }) => providerCallId === call.providerCallId).length === 1;
    return toolPartOf(call, results.get(call.callId), ids.get(call.callId) ?? "", isOnlyOne);
  });
  const step = message.role === "assistant" ? [{ type: "step-start" }] : [];
  return [...step, ...withFields(message, said, calls.length > 0), ...calls];
};

/**
 * Converts a part to the AI SDK's form for people. Returns none for a call, and for a part that the SDK has no place
 * for.
 */
const uiPartOf = (part: Part): readonly UiMessagePart[] => {
  const own = foreignValue(part, "ui");
  if (own !== undefined) return typeof own["type"] === "string" ? [{ ...own, type: own["type"] }] : [];
  const provider = "provider" in part ? part.provider : undefined;
  const text = aiTextOf(withProvider(part, withoutUi(provider)));
  if (text !== undefined) {
    const { citations, id } = fieldsFor(provider, "ui");
    const shown = part.type === "reasoning" ? { id } : part.type === "text" ? { citations } : {};
    return [{ type: text.type, text: text.text, ...presentOf(shown), ...underName("providerMetadata", text.options) }];
  }
  const file = aiFileOf(part);
  if (file === undefined) return [];
  const { mediaType, url = "", reference, filename, options } = file;
  const named = presentOf({ filename, providerReference: reference });
  return [{ type: "file", mediaType, url, ...named, ...underName("providerMetadata", options) }];
};

const withProvider = (part: Part, provider: JsonObject | undefined): Part => {
  if (!("provider" in part)) return part;
  const { provider: _, ...rest } = part;
  return provider === undefined ? rest : { ...rest, provider };
};

/** Adds the fields of a message to the first part that can hold them. A message without content gets an empty text. */
const withFields = (message: Message, parts: readonly UiMessagePart[], called: boolean): readonly UiMessagePart[] => {
  const { name, role } = message;
  const provider = withoutUi(message.provider);
  const fields: JsonObject = { ...defined({ name, provider }), ...(role === "developer" ? { role } : {}) };
  const [first, ...rest] = parts;
  if (isEmpty(fields)) return first === undefined && !called ? [nothingSaid] : parts;
  return first !== undefined && carriers.includes(first["type"])
    ? [carrying(first, fields), ...rest]
    : [carrying(nothingSaid, fields), ...parts];
};

/** Adds our own fields of a message to one of its parts, where an import reads them. */
const carrying = (part: UiMessagePart, message: JsonObject): UiMessagePart => {
  const { providerMetadata } = part;
  const options = isJsonObject(providerMetadata) ? providerMetadata : {};
  const own = isJsonObject(options[ourName]) ? options[ourName] : {};
  return { ...part, providerMetadata: { ...options, [ourName]: { ...own, message } } };
};

/** A marker for a message without parts. */
const nothingSaid = { type: "text", text: "", providerMetadata: { colloquy: { empty: true } } };

/** The types of parts with provider metadata. */
const carriers: readonly unknown[] = ["text", "reasoning", "file"];
