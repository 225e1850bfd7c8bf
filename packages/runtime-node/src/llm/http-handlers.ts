import { type LlmHandler, strictSchema } from "@colloquy/host";
import {
  replyFromChatMessage,
  replyFromResponseItems,
  type ResponseItem,
  toChatMessage,
  toResponseItems,
} from "@colloquy/interchange";
import type { CallLlm, JsonObject, ToolDeclaration } from "@colloquy/machine";
import { defined, isList, isObject } from "./json/loose-json.ts";
import { withOwnParameters } from "./own-parameters.ts";
import { ChatAnswer } from "./reply/chat-answer.ts";
import { ResponseAnswer } from "./reply/response-answer.ts";
import type { Connected } from "./transport/connection.ts";
import { type Endpoint, exchanges } from "./transport/exchange.ts";
import { type MessageFormat, type RequestBody, writerFor, type WritingOptions } from "./transport/written-messages.ts";
import { handlerOnWire, wireFor, type WireOptions } from "./wire/handler-on-wire.ts";

/** Options of the handlers for the form of their requests. */
export interface RequestOptions extends WireOptions {
  /** Ask for the reply piece by piece, if the call's parameters do not say. Default true. */
  readonly stream?: boolean;
}

/** Options of the handlers that ask for streams of chat completions or texts. */
export interface UsageOptions {
  /** Ask streams to report usage (`stream_options`), if the call's parameters do not say. Default true. */
  readonly includeUsage?: boolean;
}

export interface ChatRequestOptions extends RequestOptions, UsageOptions, WritingOptions {
  /**
   * Declarations for callers without a host, which hands them over itself. The machine decides which of them are offered:
   * exactly those of the call. A `tools` or `functions` among the call's own parameters takes their place.
   */
  readonly tools?: readonly ToolDeclaration[];
}

export interface ResponseRequestOptions extends RequestOptions, WritingOptions {}

/** Performs the calls of `openaiChat`. */
export const chatHandler = (connected: Connected<ChatRequestOptions>): LlmHandler =>
  httpHandler(connected, chat, connected.options.tools ?? []);

/** Performs the calls of `openaiResponses`. */
export const responseHandler = (connected: Connected<ResponseRequestOptions>): LlmHandler =>
  httpHandler(connected, responses, undefined);

const httpHandler = (
  connected: Connected<ChatRequestOptions>,
  api: Api,
  tools: readonly ToolDeclaration[] | undefined,
): LlmHandler => {
  const { handler: name, options } = connected;
  const wireOf = wireFor(connected, api.name);
  const write = writerFor(connected, api.format, wireOf);
  const send = withOwnParameters(exchanges(connected, api));
  const perform: LlmHandler = (call, context) => {
    const body = api.begin(call, options);
    for (const [parameter, value] of Object.entries(outputParameters(call, api))) {
      const given = body[parameter] ?? value;
      const isText = parameter === "text" && isObject(given) && isObject(value);
      body[parameter] = isText ? { ...value, ...given } : given;
    }
    body[api.messages] = write(call, body["store"] === true ? "stored" : "");
    return send(withTools(body, call, context.tools, api), call, context);
  };
  return handlerOnWire({ name, wireOf, tools, perform });
};

/** An API over HTTP. */
interface Api extends Endpoint {
  readonly name: "chat" | "responses";
  /** Begins a body with the parameters of the call and of the options. */
  readonly begin: (call: CallLlm, options: ChatRequestOptions) => OpenBody;
  /** The parameter for the messages. */
  readonly messages: string;
  readonly format: MessageFormat;
  readonly tool: (tool: JsonObject) => JsonObject;
  /** Returns the choice of the one tool that the model has to call. */
  readonly choice: (name: string) => JsonObject;
  readonly native: (format: JsonObject) => JsonObject;
}

/** Writes the messages of a chat completions request. */
export const chatMessages: MessageFormat = (messages) => messages.map((message): JsonObject => toChatMessage(message));

const chat: Api = {
  name: "chat",
  path: "/chat/completions",
  // Unless several were asked for, all choices are one reply.
  reader: (onDelta, { model }) => new ChatAnswer(replyFromChatMessage, onDelta, !(Number(model["n"]) > 1)),
  begin: (call, options) => withUsage(parametersOf(call, options), options),
  messages: "messages",
  format: chatMessages,
  tool: (tool) => ({ type: "function", function: tool }),
  choice: (name) => ({ type: "function", function: { name } }),
  native: (schema) => ({ response_format: { type: "json_schema", json_schema: schema } }),
};

/**
 * Writes the items of a request. A server that stores nothing reads reasoning only if it is encrypted, and gets no other. It
 * refuses reasoning that nothing follows ("was provided without its required following item") and an id that came before
 * ("Duplicate item found with id"), so these are left out, and references to an item that came before.
 */
export const responseItems: MessageFormat = (messages, variant, { itemIds }) => {
  const items = toResponseItems(messages).value.filter(
    ({ type, encrypted_content: sealed = "" }) =>
      variant === "stored" || type !== "reasoning" || (typeof sealed === "string" && sealed !== ""),
  );
  return items
    .filter((item, index) => item.type !== "reasoning" || isFollowed(items, index))
    .flatMap((item) => {
      const { id, ...others } = item;
      if (typeof id !== "string" || itemIds.add(id)) return [item];
      return item.type === "item_reference" ? [] : [others];
    });
};

/** Whether an item of the model follows a reasoning item, after others of its kind. */
const isFollowed = (items: readonly ResponseItem[], index: number): boolean => {
  const next = items.slice(index + 1).find(({ type }) => type !== "reasoning");
  return next !== undefined && !next.type.endsWith("_output") && (next["role"] ?? "assistant") === "assistant";
};

const responses: Api = {
  name: "responses",
  path: "/responses",
  reader: (onDelta, call) => new ResponseAnswer(replyFromResponseItems, onDelta, call),
  // The server stores nothing, so its reasoning has to come in a form that can be sent back.
  begin: (call, options) => {
    const { include = ["reasoning.encrypted_content"], ...body } = parametersOf(call, options);
    return { store: false, ...body, ...(include !== null && { include }) };
  },
  messages: "input",
  format: responseItems,
  // The API would make a schema strict if its tool does not say.
  tool: (tool) => ({ type: "function", ...tool, strict: false }),
  choice: (name) => ({ type: "function", name }),
  native: (schema) => ({ text: { format: { type: "json_schema", ...schema } } }),
};

/** A body that is being made. */
type OpenBody = { -readonly [Parameter in keyof RequestBody]: RequestBody[Parameter] };

/** Returns the parameters of a call with those of the options that it leaves open. */
export const parametersOf = ({ model: given }: CallLlm, { model, stream }: RequestOptions): OpenBody => {
  const body: OpenBody = { ...given };
  if (body["model"] === undefined && model !== undefined) body["model"] = model;
  if (body["stream"] === undefined && stream !== false) body["stream"] = true;
  return body;
};

/** Adds the wish for usage; `stream_options: null` leaves it out. */
export const withUsage = ({ stream_options: given, ...body }: OpenBody, { includeUsage }: UsageOptions): OpenBody => {
  const isAsked = given === undefined && body["stream"] === true && includeUsage !== false;
  return { ...body, ...defined({ stream_options: isAsked ? { include_usage: true } : (given ?? undefined) }) };
};

/** Returns the parameters that make a model write the wanted output. Its tool, if it has one, is among the tools already. */
const outputParameters = ({ output, tools = [], model }: CallLlm, { choice, native }: Api): JsonObject => {
  if (output?.mode === "native")
    return native({ name: output.name, schema: strictSchema(output.schema), strict: true });
  if (output?.mode !== "tool") return {};
  const given = model["tools"];
  const isOneOfSeveral = isList(given) ? given.length > 0 : tools.length > 1;
  return { tool_choice: isOneOfSeveral ? "required" : choice(output.name) };
};

/**
 * Adds the offered tools. `tools` among the parameters take their place, except for the tool of an output. Without tools, as for a
 * summary, parameters about calls are left out: servers refuse them if there is nothing to call.
 */
const withTools = (
  body: OpenBody,
  { purpose, output }: CallLlm,
  offered: readonly ToolDeclaration[],
  api: Api,
): RequestBody => {
  const { tools: own, functions } = body;
  const isOverridden = own !== undefined || functions !== undefined;
  if (purpose === "summary" || !(isOverridden || offered.length > 0))
    return Object.fromEntries(Object.entries(body).filter(([parameter]) => !ofTools.has(parameter)));
  const tool = ({ name, description, parameters }: ToolDeclaration): JsonObject =>
    api.tool({ name, ...defined({ description }), parameters });
  if (isList(own) && output?.mode === "tool")
    return { ...body, tools: [...own, ...offered.filter(({ name }) => name === output.name).map(tool)] };
  return isOverridden ? body : { ...body, tools: offered.map(tool) };
};

const ofTools: ReadonlySet<string> = new Set(
  "tools tool_choice parallel_tool_calls max_tool_calls functions function_call".split(" "),
);
