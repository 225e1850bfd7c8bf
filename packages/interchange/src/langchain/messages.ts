import type * as Either from "fp-ts/lib/Either.js";
import {
  type Json,
  type JsonObject,
  type Message,
  type Part,
  type ToolCallPart,
  toolCallsOf,
  toolResultOf,
} from "@colloquy/machine";
import { exported, type Exported, type Reasons, type Round } from "../exchange/export.ts";
import { fieldsFor, foreignValue } from "../exchange/foreign.ts";
import { importConversation, type Imported, type ImportOptions } from "../exchange/import-conversation.ts";
import { caught, type ImportProblem } from "../exchange/import-problem.ts";
import { defined, isEmpty, isJsonObject } from "../exchange/json.ts";
import { contentOf, fieldsType } from "./content.ts";
import { ourName, readLangChainMessages, roleMark, thoughts } from "./reading.ts";

/** A message in LangChain's stored form (`StoredMessage`, the output of `toDict`), as plain JSON. */
export interface LangChainMessage {
  readonly type: "human" | "ai" | "system" | "tool";
  readonly data: LangChainData;
}

interface LangChainData {
  readonly content: string | readonly JsonObject[];
  readonly id?: string;
  readonly name?: string;
  readonly additional_kwargs: JsonObject;
  readonly response_metadata: JsonObject;
  readonly tool_calls?: readonly JsonObject[];
  readonly invalid_tool_calls?: readonly JsonObject[];
  readonly tool_call_id?: string;
  readonly status?: "success" | "error";
  readonly [field: string]: Json | undefined;
}

/**
 * Converts a conversation to LangChain's stored messages (`StoredMessage`), as plain JSON. A call whose arguments are
 * not an object becomes an invalid tool call. Fields that LangChain has no place for are in
 * `additional_kwargs.colloquy`, where an import reads them. `losses` lists everything that cannot be kept.
 */
export const toLangChainMessages = (messages: readonly Message[]): Exported<readonly LangChainMessage[]> =>
  exported(messages, {
    write: (said, round) => said.map((message) => stored(message, round)),
    read: readLangChainMessages,
    reasons,
  });

/**
 * Reads a conversation that LangChain stored: the output of `toDict` and `mapChatMessagesToStoredMessages`. Returns an
 * error that names the invalid message, or the call and result that do not match, and how to fix it. Ids,
 * `additional_kwargs`, `response_metadata` and `usage_metadata` are kept for LangChain.
 */
export const fromLangChainMessages = (
  messages: unknown,
  options: ImportOptions = {},
): Either.Either<ImportProblem, Imported> => caught(() => importConversation(readLangChainMessages(messages), options));

const stored = (message: Message, round: Round): LangChainMessage => {
  const result = toolResultOf(message);
  if (result !== undefined) {
    const { content, outcome, callId, providerCallId, name } = result;
    const kept = content.map((part) => foreignValue(part, "langchain")).find((each) => each?.["type"] === fieldsType)?.[
      "fields"
    ];
    return {
      type: "tool",
      data: {
        content: contentOf(content),
        name,
        tool_call_id: round.ids.get(callId) ?? providerCallId ?? "",
        status: outcome === "completed" ? "success" : "error",
        ...dataOf(isJsonObject(kept) ? kept : {}, outcome === "completed" ? {} : { outcome }),
      },
    };
  }
  const { role, name, metadata, provider = {}, parts } = message;
  const { langchain: _, ...others } = provider;
  const calls = toolCallsOf(message);
  const own = defined({
    metadata,
    provider: isEmpty(others) ? undefined : others,
    calls: calls.every(isReadAsWritten) ? undefined : calls.map((call) => exactCall(call, round)),
  });
  const marks = { ...thoughtsOf(parts), ...(role === "developer" ? { [roleMark]: role } : {}) };
  const data = {
    content: contentOf(parts),
    ...defined({ name }),
    ...dataOf(fieldsFor(provider, "langchain"), own, marks),
  };
  if (role === "assistant") return { type: "ai", data: { ...data, ...callsOf(calls, round) } };
  return { type: role === "user" ? "human" : "system", data };
};

/** Returns the fields that LangChain had beside the content, with our own. */
const dataOf = ({ additional_kwargs: kwargs, ...rest }: JsonObject, own: JsonObject, marks: JsonObject = {}) => ({
  response_metadata: {},
  ...rest,
  additional_kwargs: {
    ...(isJsonObject(kwargs) ? kwargs : {}),
    ...marks,
    ...(isEmpty(own) ? {} : { [ourName]: own }),
  },
});

/** Returns reasoning under its original name. */
const thoughtsOf = (parts: readonly Part[]): JsonObject => {
  const thought = parts.find((part) => {
    const fields = part.type === "reasoning" ? part.provider?.["fields"] : undefined;
    return Array.isArray(fields) && fields.includes(thoughts);
  });
  return thought?.type === "reasoning" ? { [thoughts]: thought.text } : {};
};

const callsOf = (calls: readonly ToolCallPart[], { ids }: Round) => {
  const written = calls.map(({ callId, name, arguments: given }) => {
    const id = ids.get(callId) ?? "";
    const args = argumentsOf(given);
    return args === undefined
      ? { type: "invalid_tool_call", id, name, args: given, error: "the arguments are no JSON object" }
      : { type: "tool_call", id, name, args };
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

const exactCall = (call: ToolCallPart, { ids }: Round): JsonObject => ({
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

const reasons: Reasons = {
  outcomes: true,
  callId: "each call has an id here, which no other call beside it has",
  field: "LangChain has no place for it that an import could read it from",
  parts: { data: "it is written as a text", reasoning: "it goes back only where it came from" },
  otherPart: "it is read as another part",
};
