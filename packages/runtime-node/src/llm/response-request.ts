import { type ResponseItem, toResponseItems } from "@colloquy/interchange";
import type { CallLlm, JsonObject, ToolDeclaration } from "@colloquy/machine";
import { isObject, listOf } from "./reply/loose-json.ts";
import type { RequestBody } from "./transport/request-body.ts";
import type { MessageFormat, MessageWriter, WritingOptions } from "./transport/written-messages.ts";
import {
  type OpenBody,
  outputParameters,
  parametersOf,
  type RequestOptions,
  type ToolFormat,
  withTools,
} from "./request.ts";

export interface ResponseRequestOptions extends RequestOptions, WritingOptions {}

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
  const { text, ...output } = outputParameters(call, format);
  for (const [parameter, value] of Object.entries(output)) body[parameter] ??= value;
  if (isObject(text)) body["text"] = { ...text, ...(isObject(body["text"]) ? body["text"] : {}) };
  body["input"] = write(call, body["store"] === true ? "stored" : "");
  return withTools(body, call, offered, format);
};

const encryptedReasoning = "reasoning.encrypted_content";

/** The body without the wish for encrypted reasoning; null where it has none. */
export const withoutEncrypted = (body: RequestBody): RequestBody | null => {
  const { include, ...others } = body;
  const wanted = listOf(include);
  if (!wanted.includes(encryptedReasoning)) return null;
  const left = wanted.filter((each) => each !== encryptedReasoning);
  return left.length === 0 ? others : { ...others, include: left };
};

/**
 * Writes the items of a request: all of them if the server stores it. Else reasoning goes without its text alone: a server that
 * stored nothing knows only what is encrypted. Reasoning that nothing follows is left out: "was provided without its required
 * following item".
 */
export const responseItems: MessageFormat = (messages, variant) => {
  const items = toResponseItems(messages).value.filter((item) => variant === "stored" || canBeSentBack(item));
  return items.filter((item, index) => item.type !== "reasoning" || isFollowed(items, index));
};

const canBeSentBack = (item: ResponseItem): boolean =>
  item.type !== "reasoning" || (typeof item["encrypted_content"] === "string" && item["encrypted_content"] !== "");

/** Whether an item of the model follows a reasoning item, after others of its kind. */
const isFollowed = (items: readonly ResponseItem[], index: number): boolean => {
  const next = items.slice(index + 1).find(({ type }) => type !== "reasoning");
  if (next === undefined || next.type.endsWith("_output")) return false;
  return next["role"] === undefined || next["role"] === "assistant";
};

/** The API would make a schema strict that says nothing of it. */
const format: ToolFormat = {
  tool: ({ name, description, parameters }): JsonObject => ({
    type: "function",
    name,
    ...(description === undefined ? {} : { description }),
    parameters,
    strict: false,
  }),
  choice: (name) => ({ type: "function", name }),
  native: (schema) => ({ text: { format: { type: "json_schema", ...schema } } }),
};
