import * as Either from "fp-ts/lib/Either.js";
import type { JsonObject, Message, Part, ToolResultPart } from "@colloquy/machine";
import { toolCallsOf, toolResultOf } from "@colloquy/machine";
import { type AiFile, aiFileOf } from "./file.ts";
import { inputOf } from "./arguments.ts";
import { optionsOf, resultOptionsIn, underName } from "./provider-options.ts";
import { outputOf } from "./output.ts";
import { aiReasons } from "./reasons.ts";
import { aiTextOf } from "./text.ts";
import { type CallIds, callIdsOf } from "../exchange/call-ids.ts";
import { inOrder } from "../exchange/call-order.ts";
import { exportLosses } from "../exchange/export-losses.ts";
import { aiPlace, foreignValue, placeOfAi, withoutField } from "../exchange/foreign.ts";
import { importConversation, type Imported, type ImportOptions } from "../exchange/import-conversation.ts";
import type { ImportProblem } from "../exchange/import-problem.ts";
import type { Exported } from "../exchange/loss.ts";
import type { ModelMessage } from "./model-message.ts";
import { readModelMessages } from "./model-reading.ts";
import type { Reading } from "../exchange/piece.ts";
import { onlyText } from "../exchange/reply-draft.ts";

/**
 * Converts a conversation to the `ModelMessage`s of the AI SDK (7), as plain JSON. Fields that the SDK has no place
 * for (names, metadata, the exact string of arguments, the outcome of a call) go into `providerOptions.colloquy`. An
 * import reads them there, and providers ignore them. `losses` lists everything that cannot be kept.
 */
export const toModelMessages = (messages: readonly Message[]): Exported<readonly ModelMessage[]> => {
  const value: ModelMessage[] = [];
  const groups: { messages: { message: Message; index: number }[]; from: number; to: number }[] = [];
  let ids: CallIds = callIdsOf([]);
  for (const [index, message] of messages.entries()) {
    const result = toolResultOf(message);
    const last = value.at(-1);
    if (result !== undefined && last?.role === "tool" && typeof last.content !== "string") {
      value[value.length - 1] = { role: "tool", content: [...last.content, resultPart(result, ids)] };
      groups.at(-1)?.messages.push({ message, index });
      continue;
    }
    if (toolCallsOf(message).length > 0) ids = callIdsOf([message]);
    groups.push({ messages: [{ message, index }], from: value.length, to: value.length + 1 });
    value.push(
      result === undefined ? modelMessage(message, ids) : { role: "tool", content: [resultPart(result, ids)] },
    );
  }
  return { value, losses: exportLosses(groups, readModelMessages(value), aiReasons) };
};

/**
 * Reads a conversation of `ModelMessage`s, with their URLs and bytes or as plain JSON. Returns an error that names the
 * invalid message, or the call and result that do not match, and how to fix it. Calls that a provider ran itself are
 * kept for the AI SDK.
 */
export const fromModelMessages = (
  messages: unknown,
  options: ImportOptions = {},
): Either.Either<ImportProblem, Imported> =>
  Either.chain((reading: Reading) => importConversation(reading, options))(readModelMessages(messages));

const modelMessage = (message: Message, ids: CallIds): ModelMessage => {
  const { role, name, metadata, provider } = message;
  const own = { name, metadata, ...(role === "developer" ? { role } : {}) };
  const options = underName("providerOptions", optionsOf(provider, own));
  if (role === "system" || role === "developer") return { role: "system", content: systemText(message), ...options };
  const by = role === "user" ? "user" : "assistant";
  return { role: by, content: contentOf(message.parts, ids), ...options };
};

/**
 * Returns a system message as text, the only form that the SDK accepts. Data fields are written as text, and other
 * parts are left out.
 */
const systemText = ({ parts }: Message): string => parts.map((part) => aiTextOf(part)?.text ?? "").join("");

/** Returns a single text without options as a string, otherwise a list of parts. */
const contentOf = (parts: readonly Part[], ids: CallIds): string | readonly JsonObject[] => {
  const written = inOrder(parts, placeOfAi).flatMap((part) => contentPart(part, ids));
  return written.length === 0 ? "" : (onlyText(written) ?? written);
};

const contentPart = (part: Part, ids: CallIds): readonly JsonObject[] => {
  if (part.type === "toolCall") {
    const { input, own } = inputOf(part.arguments);
    const options = optionsOf(withoutField(part.provider, aiPlace), { ...own, ...withoutId(part.providerCallId) });
    const toolCallId = ids.get(part.callId) ?? "";
    return [{ type: "tool-call", toolCallId, toolName: part.name, input, ...underName("providerOptions", options) }];
  }
  const text = aiTextOf(part);
  if (text !== undefined) return [{ type: text.type, text: text.text, ...underName("providerOptions", text.options) }];
  const own = foreignValue(part, "model");
  if (own !== undefined) return [own];
  const file = aiFileOf(part);
  return file === undefined ? [] : [filePart(file)];
};

const filePart = ({ mediaType, url, reference, filename, options }: AiFile): JsonObject => ({
  type: "file",
  mediaType,
  data: url ?? { type: "reference", reference },
  ...(filename === undefined ? {} : { filename }),
  ...underName("providerOptions", options),
});

const resultPart = ({ content: given, ...result }: ToolResultPart, ids: CallIds): JsonObject => {
  const { content, options: kept } = resultOptionsIn(given);
  const ended = result.outcome === "completed" ? {} : { outcome: result.outcome };
  const options = optionsOf(kept === undefined ? undefined : { ai: kept }, {
    ...ended,
    ...withoutId(result.providerCallId),
  });
  return {
    type: "tool-result",
    toolCallId: ids.get(result.callId) ?? result.providerCallId ?? "",
    toolName: result.name,
    output: outputOf({ ...result, content }),
    ...underName("providerOptions", options),
  };
};

/** Marks a call without an id, since it gets a generated one. */
const withoutId = (providerCallId: string | null): JsonObject => (providerCallId === null ? { id: null } : {});
