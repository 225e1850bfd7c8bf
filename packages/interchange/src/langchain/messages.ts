import * as Either from "fp-ts/lib/Either.js";
import type { JsonObject, Message, Part, ToolCallPart } from "@colloquy/machine";
import { toolCallsOf, toolResultOf } from "@colloquy/machine";
import { type CallIds, callIdsOf } from "../exchange/call-ids.ts";
import { exportLosses, type Reasons } from "../exchange/export-losses.ts";
import { foreignValue, isForeign } from "../exchange/foreign.ts";
import { importConversation, type Imported, type ImportOptions } from "../exchange/import-conversation.ts";
import type { ImportProblem } from "../exchange/import-problem.ts";
import { isJsonObject } from "../exchange/json-object.ts";
import { type Exported, saysNothing } from "../exchange/loss.ts";
import type { Reading } from "../exchange/piece.ts";
import { contentOf, fieldsType } from "./content.ts";
import { readLangChainMessages, thoughts } from "./reading.ts";
import { type LangChainMessage, ourName, roleMark } from "./stored-message.ts";

/**
 * Converts a conversation to LangChain's stored messages (`StoredMessage`), as plain JSON. A call whose arguments are
 * not an object becomes an invalid tool call. Fields that LangChain has no place for are in
 * `additional_kwargs.colloquy`, where an import reads them. `losses` lists everything that cannot be kept.
 */
export const toLangChainMessages = (messages: readonly Message[]): Exported<readonly LangChainMessage[]> => {
  let ids: CallIds = callIdsOf([]);
  const value = messages.map((message) => {
    if (toolCallsOf(message).length > 0) ids = callIdsOf([message]);
    return stored(message, ids);
  });
  const groups = messages.map((message, index) => ({ messages: [{ message, index }], from: index, to: index + 1 }));
  return { value, losses: exportLosses(groups, readLangChainMessages(value), reasons) };
};

/**
 * Reads a conversation that LangChain stored: the output of `toDict` and `mapChatMessagesToStoredMessages`. Returns an
 * error that names the invalid message, or the call and result that do not match, and how to fix it. Ids,
 * `additional_kwargs`, `response_metadata` and `usage_metadata` are kept for LangChain.
 */
export const fromLangChainMessages = (
  messages: unknown,
  options: ImportOptions = {},
): Either.Either<ImportProblem, Imported> =>
  Either.chain((reading: Reading) => importConversation(reading, options))(readLangChainMessages(messages));

const stored = (message: Message, ids: CallIds): LangChainMessage => {
  const result = toolResultOf(message);
  if (result !== undefined) {
    const fields = result.content
      .map((part) => foreignValue(part, "langchain"))
      .find((each) => each?.["type"] === fieldsType);
    const own = result.outcome === "completed" ? {} : { outcome: result.outcome };
    return {
      type: "tool",
      data: {
        content: contentOf(result.content),
        name: result.name,
        tool_call_id: ids.get(result.callId) ?? result.providerCallId ?? "",
        status: result.outcome === "completed" ? "success" : "error",
        ...dataOf(isJsonObject(fields?.["fields"]) ? fields["fields"] : {}, own),
      },
    };
  }
  const { role, name, metadata, provider = {}, parts } = message;
  const { langchain, ...others } = provider;
  const calls = toolCallsOf(message);
  const own = {
    ...(metadata === undefined ? {} : { metadata }),
    ...nonEmpty("provider", others),
    ...(calls.every(isReadAsWritten) ? {} : { calls: calls.map((call) => exactCall(call, ids)) }),
  };
  const kept = dataOf(isJsonObject(langchain) ? langchain : {}, own, {
    ...thoughtsOf(parts),
    ...(role === "developer" ? { [roleMark]: role } : {}),
  });
  const data = { content: contentOf(parts), ...(name === undefined ? {} : { name }), ...kept };
  if (role === "assistant") return { type: "ai", data: { ...data, ...callsOf(calls, ids) } };
  return { type: role === "user" ? "human" : "system", data };
};

/** Returns the fields that LangChain had beside the content, with our own. */
const dataOf = ({ additional_kwargs: kwargs, ...rest }: JsonObject, own: JsonObject, marks: JsonObject = {}) => ({
  response_metadata: {},
  ...rest,
  additional_kwargs: { ...(isJsonObject(kwargs) ? kwargs : {}), ...marks, ...nonEmpty(ourName, own) },
});

/** Returns reasoning under its original name. */
const thoughtsOf = (parts: readonly Part[]): JsonObject => {
  const thought = parts.find((part) => {
    const fields = part.type === "reasoning" ? part.provider?.["fields"] : undefined;
    return Array.isArray(fields) && fields.includes(thoughts);
  });
  return thought?.type === "reasoning" ? { [thoughts]: thought.text } : {};
};

const callsOf = (calls: readonly ToolCallPart[], ids: CallIds) => {
  const written = calls.map((call) => {
    const id = ids.get(call.callId) ?? "";
    const args = argumentsOf(call.arguments);
    return args === undefined
      ? {
          type: "invalid_tool_call",
          id,
          name: call.name,
          args: call.arguments,
          error: "the arguments are no JSON object",
        }
      : { type: "tool_call", id, name: call.name, args };
  });
  return {
    tool_calls: written.filter(({ type }) => type === "tool_call"),
    invalid_tool_calls: written.filter(({ type }) => type !== "tool_call"),
  };
};

/** Returns whether an import would restore a call's exact arguments and its place among the calls. */
const isReadAsWritten = ({ arguments: given }: ToolCallPart): boolean => {
  const args = argumentsOf(given);
  return args !== undefined && JSON.stringify(args) === given;
};

const exactCall = (call: ToolCallPart, ids: CallIds): JsonObject => ({
  id: ids.get(call.callId) ?? "",
  name: call.name,
  arguments: call.arguments,
});

/** Parses arguments. An empty text is an empty object, as models mean it. */
const argumentsOf = (given: string): JsonObject | undefined => {
  if (given === "") return {};
  try {
    const parsed: unknown = JSON.parse(given);
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
};

const nonEmpty = (name: string, fields: JsonObject): JsonObject =>
  Object.keys(fields).length === 0 ? {} : { [name]: fields };

const reasons: Reasons = {
  outcomes: true,
  callId: "each call has an id here, which no other call beside it has",
  field: () => "LangChain has no place for it that an import could read it from",
  part: (part: Part): string => {
    switch (part.type) {
      case "data":
        return "it is written as a text";
      case "reasoning":
        return "it goes back only where it came from";
      case "toolCall":
      case "toolResult":
        return "it is read as another part";
      case "opaque":
        return isForeign(part.value) ? "only the format that it came from has it" : "it is read as another part";
      case "text":
      case "image":
      case "refusal":
        return saysNothing("text" in part ? part.text : part.type)
          ? "an empty text is no content"
          : "it is read as another part";
    }
  },
};
