import { strictSchema } from "@colloquy/host";
import { type ResponseItem, toChatMessage, toResponseItems } from "@colloquy/interchange";
import type { CallLlm, JsonObject, ToolDeclaration } from "@colloquy/machine";
import { isList, isObject, isText, listOf } from "./json/loose-json.ts";
import type { MessageFormat, MessageWriter, RequestBody, WritingOptions } from "./transport/written-messages.ts";
import type { WireOptions } from "./wire/wired.ts";

/** Options of the handlers that say how their requests are written. */
export interface RequestOptions extends WireOptions {
  /** Ask for the reply piece by piece, where the call's parameters do not say. Default true. */
  readonly stream?: boolean;
}

/** Options of the handlers that ask for streams of chat completions or texts. */
export interface UsageOptions {
  /** Ask streams to report usage (`stream_options`), where the call's parameters do not say. Default true. */
  readonly includeUsage?: boolean;
}

export interface ChatRequestOptions extends RequestOptions, UsageOptions, WritingOptions {
  /**
   * Declarations for those who call the handler without a host, which hands them over itself. The machine decides which of
   * them are offered: exactly those of the call. A `tools` or `functions` among the call's own parameters takes their place.
   */
  readonly tools?: readonly ToolDeclaration[];
}

export interface ResponseRequestOptions extends RequestOptions, WritingOptions {}

/**
 * Returns the body of a chat completions request: the call's parameters as they are, its messages, and exactly the tools that
 * it offers. Nothing is added that a parameter contradicts.
 *
 * @param offered The tools that the call offers.
 * @param write Writes the messages as `chatMessages`.
 */
export const chatRequest = (
  call: CallLlm,
  options: ChatRequestOptions,
  offered: readonly ToolDeclaration[],
  write: MessageWriter,
): RequestBody => {
  const body = withUsage(parametersOf(call, options), options);
  for (const [parameter, value] of Object.entries(outputParameters(call, chatFormat))) body[parameter] ??= value;
  body["messages"] = write(call);
  return withTools(body, call, offered, chatFormat);
};

/** Writes the messages of a chat completions request. */
export const chatMessages: MessageFormat = (messages) => messages.map((message): JsonObject => toChatMessage(message));

/** How one API writes tools and outputs. */
interface ToolFormat {
  readonly tool: (tool: ToolDeclaration) => JsonObject;
  /** The choice of the one tool that has to be called. */
  readonly choice: (name: string) => JsonObject;
  readonly native: (format: {
    readonly name: string;
    readonly schema: JsonObject;
    readonly strict: true;
  }) => JsonObject;
}

const functionOf = ({ name, description, parameters }: ToolDeclaration): JsonObject => ({
  name,
  // Bedrock refuses an empty one.
  ...(isText(description) ? { description } : {}),
  parameters,
});

const chatFormat: ToolFormat = {
  tool: (tool) => ({ type: "function", function: functionOf(tool) }),
  choice: (name) => ({ type: "function", function: { name } }),
  native: (schema) => ({ response_format: { type: "json_schema", json_schema: schema } }),
};

/**
 * Returns the body of a request of the Responses API: the call's parameters as they are, its messages as items, and exactly
 * the tools that it offers. Nothing is added that a parameter contradicts. The server is to store nothing, and so to give its
 * reasoning in a form that can be sent back; `include: null` leaves that out.
 *
 * @param offered The tools that the call offers.
 * @param write Writes the messages as `responseItems`.
 */
export const responseRequest = (
  call: CallLlm,
  options: ResponseRequestOptions,
  offered: readonly ToolDeclaration[],
  write: MessageWriter,
): RequestBody => {
  const body: OpenBody = { store: false, include: [encryptedReasoning], ...parametersOf(call, options) };
  if (body["include"] === null) delete body["include"];
  const { text, ...output } = outputParameters(call, responseFormat);
  for (const [parameter, value] of Object.entries(output)) body[parameter] ??= value;
  if (isObject(text)) body["text"] = { ...text, ...(isObject(body["text"]) ? body["text"] : {}) };
  body["input"] = write(call, body["store"] === true ? "stored" : "");
  return withTools(body, call, offered, responseFormat);
};

const encryptedReasoning = "reasoning.encrypted_content";

/** Returns the body without the wish for encrypted reasoning. */
export const withoutEncrypted = ({ include, ...others }: RequestBody): RequestBody => {
  const left = listOf(include).filter((each) => each !== encryptedReasoning);
  return left.length === 0 ? others : { ...others, include: left };
};

/**
 * Writes the items of a request: all of them if the server stores it. Else reasoning goes without its text alone: a server that
 * stored nothing knows only what is encrypted. Reasoning that nothing follows is left out: "was provided without its required
 * following item". So is an id that an item before it has ("Duplicate item found with id"), and a reference to such an item.
 */
export const responseItems: MessageFormat = (messages, variant, { itemIds }) => {
  const items = toResponseItems(messages).value.filter((item) => variant === "stored" || canBeSentBack(item));
  return items
    .filter((item, index) => item.type !== "reasoning" || isFollowed(items, index))
    .flatMap((item) => {
      const { id, ...others } = item;
      if (typeof id !== "string" || itemIds.add(id)) return [item];
      return item.type === "item_reference" ? [] : [others];
    });
};

const canBeSentBack = (item: ResponseItem): boolean =>
  item.type !== "reasoning" || (typeof item["encrypted_content"] === "string" && item["encrypted_content"] !== "");

/** Whether an item of the model follows a reasoning item, after others of its kind. */
const isFollowed = (items: readonly ResponseItem[], index: number): boolean => {
  const next = items.slice(index + 1).find(({ type }) => type !== "reasoning");
  if (next === undefined || next.type.endsWith("_output")) return false;
  return next["role"] === undefined || next["role"] === "assistant";
};

const responseFormat: ToolFormat = {
  // The API would make a schema strict that says nothing of it.
  tool: (tool) => ({ type: "function", ...functionOf(tool), strict: false }),
  choice: (name) => ({ type: "function", name }),
  native: (schema) => ({ text: { format: { type: "json_schema", ...schema } } }),
};

/** A body that is being made. */
type OpenBody = { -readonly [Parameter in keyof RequestBody]: RequestBody[Parameter] };

/** Returns the parameters of a call with what the options add: nothing that a parameter contradicts. */
export const parametersOf = ({ model: given }: CallLlm, { model, stream }: RequestOptions): OpenBody => {
  const body: OpenBody = { ...given };
  if (body["model"] === undefined && model !== undefined) body["model"] = model;
  if (body["stream"] === undefined && stream !== false) body["stream"] = true;
  return body;
};

/** The same with the wish for usage; `stream_options: null` leaves that out. */
export const withUsage = (body: OpenBody, { includeUsage }: UsageOptions): OpenBody => {
  const { stream_options: given, ...others } = body;
  if (given === null) return others;
  return given === undefined && body["stream"] === true && includeUsage !== false
    ? { ...others, stream_options: { include_usage: true } }
    : body;
};

/** Returns the parameters that bring a model to write the output that the call wants: one more tool is among the tools already. */
const outputParameters = ({ output, tools = [], model }: CallLlm, { choice, native }: ToolFormat): JsonObject => {
  if (output?.mode === "native")
    return native({ name: output.name, schema: strictSchema(output.schema), strict: true });
  if (output?.mode !== "tool") return {};
  const given = model["tools"];
  const isOneOfSeveral = isList(given) ? given.length > 0 : tools.length > 1;
  return { tool_choice: isOneOfSeveral ? "required" : choice(output.name) };
};

/**
 * Returns the body with the tools that the call offers. `tools` among the parameters take their place, but for the tool that an
 * output has to be written by. A summary is asked for without tools.
 */
const withTools = (
  body: OpenBody,
  { purpose, output }: CallLlm,
  offered: readonly ToolDeclaration[],
  { tool }: ToolFormat,
): RequestBody => {
  if (purpose === "summary")
    return Object.fromEntries(Object.entries(body).filter(([parameter]) => !ofTools.has(parameter)));
  const own = body["tools"];
  if (isList(own) && output?.mode === "tool")
    return { ...body, tools: [...own, ...offered.filter(({ name }) => name === output.name).map(tool)] };
  if (own !== undefined || body["functions"] !== undefined || offered.length === 0) return body;
  return { ...body, tools: offered.map(tool) };
};

/** Servers refuse parameters about calls where there is nothing to call. */
const ofTools: ReadonlySet<string> = new Set(
  "tools tool_choice parallel_tool_calls max_tool_calls functions function_call".split(" "),
);
