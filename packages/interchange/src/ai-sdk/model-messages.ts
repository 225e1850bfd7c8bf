import type * as Either from "fp-ts/lib/Either.js";
import { type JsonObject, type Message, type Part, toolResultOf, type ToolResultPart } from "@colloquy/machine";
import { exported, type Exported, type Reasons, type Round } from "../exchange/export.ts";
import { aiPlace, foreignValue, inOrder, placeOfAi, withoutField } from "../exchange/foreign.ts";
import { importConversation, type Imported, type ImportOptions } from "../exchange/import-conversation.ts";
import { caught, type ImportProblem } from "../exchange/import-problem.ts";
import { defined } from "../exchange/json.ts";
import { onlyText } from "../exchange/reading.ts";
import { type AiFile, aiFileOf } from "./file.ts";
import { readModelMessages } from "./model-reading.ts";
import { outputOf } from "./output.ts";
import { optionsOf, resultOptionsIn, underName } from "./provider-options.ts";
import { aiTextOf, inputOf, modelTextOf } from "./text.ts";

/** A message in the AI SDK's form for models (`ModelMessage`), as plain JSON. */
export interface ModelMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly JsonObject[];
  readonly providerOptions?: JsonObject;
}

/**
 * Converts a conversation to the `ModelMessage`s of the AI SDK (7), as plain JSON. Fields that the SDK has no place
 * for (names, metadata, the exact string of arguments, the outcome of a call) go into `providerOptions.colloquy`. An
 * import reads them there, and providers ignore them. `losses` lists everything that cannot be kept.
 */
export const toModelMessages = (messages: readonly Message[]): Exported<readonly ModelMessage[]> =>
  exported(messages, {
    // The results of a round are one message.
    continues: (message, before) => message.role === "tool" && before.role === "tool",
    write: (said, round) => {
      const results = said.flatMap((message) => toolResultOf(message) ?? []);
      return results.length > 0
        ? [{ role: "tool", content: results.map((result) => resultPart(result, round)) }]
        : said.map((message) => modelMessage(message, round));
    },
    read: readModelMessages,
    reasons: aiReasons,
  });

/**
 * Reads a conversation of `ModelMessage`s, with their URLs and bytes or as plain JSON. Returns an error that names the
 * invalid message, or the call and result that do not match, and how to fix it. Calls that a provider ran itself are
 * kept for the AI SDK.
 */
export const fromModelMessages = (
  messages: unknown,
  options: ImportOptions = {},
): Either.Either<ImportProblem, Imported> => caught(() => importConversation(readModelMessages(messages), options));

const modelMessage = ({ role, name, metadata, provider, parts }: Message, round: Round): ModelMessage => {
  const own = { name, metadata, ...(role === "developer" ? { role } : {}) };
  const options = underName("providerOptions", optionsOf(provider, own));
  // Instructions are a text here: data fields are written as text, and other parts are left out.
  if (role === "system" || role === "developer")
    return { role: "system", content: parts.map((part) => aiTextOf(part)?.text ?? "").join(""), ...options };
  const written = inOrder(parts, placeOfAi).flatMap((part) => contentPart(part, round));
  const content = written.length === 0 ? "" : (onlyText(written) ?? written);
  return { role: role === "user" ? "user" : "assistant", content, ...options };
};

const contentPart = (part: Part, { ids }: Round): readonly JsonObject[] => {
  if (part.type === "toolCall") {
    const { input, own } = inputOf(part.arguments);
    const options = optionsOf(withoutField(part.provider, aiPlace), { ...own, ...withoutId(part.providerCallId) });
    const toolCallId = ids.get(part.callId) ?? "";
    return [{ type: "tool-call", toolCallId, toolName: part.name, input, ...underName("providerOptions", options) }];
  }
  const text = modelTextOf(part);
  if (text !== undefined) return [text];
  const own = foreignValue(part, "model");
  if (own !== undefined) return [own];
  const file = aiFileOf(part);
  return file === undefined ? [] : [filePart(file)];
};

const filePart = ({ mediaType, url, reference, filename, options }: AiFile): JsonObject => ({
  type: "file",
  mediaType,
  data: url ?? { type: "reference", reference },
  ...defined({ filename }),
  ...underName("providerOptions", options),
});

const resultPart = ({ content: given, ...result }: ToolResultPart, { ids }: Round): JsonObject => {
  const { content, options: kept } = resultOptionsIn(given);
  const { outcome, providerCallId } = result;
  const own = { ...(outcome === "completed" ? {} : { outcome }), ...withoutId(providerCallId) };
  return {
    type: "tool-result",
    toolCallId: ids.get(result.callId) ?? providerCallId ?? "",
    toolName: result.name,
    output: outputOf({ ...result, content }),
    ...underName("providerOptions", optionsOf(kept === undefined ? undefined : { ai: kept }, own)),
  };
};

/** Marks a call without an id, since it gets a generated one. */
const withoutId = (providerCallId: string | null): JsonObject => (providerCallId === null ? { id: null } : {});

const asOneText = "instructions are one text here, and an empty text is no content";

/** The reasons why the AI SDK cannot hold some fields and parts. */
export const aiReasons: Reasons = {
  outcomes: true,
  callId: "each call has an id here, which no other call beside it has",
  field: "the AI SDK has no place for it that an import could read it from",
  parts: {
    text: asOneText,
    refusal: asOneText,
    image: "the AI SDK takes images by a whole URL, and not in instructions",
    opaque: "the AI SDK has no such part",
    toolCall: "its arguments are read in another way",
    toolResult: "its arguments are read in another way",
  },
  otherPart: asOneText,
};
