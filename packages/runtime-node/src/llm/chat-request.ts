import { toChatMessage } from "@colloquy/interchange";
import type { CallLlm, JsonObject, ToolDeclaration } from "@colloquy/machine";
import type { RequestBody } from "./transport/request-body.ts";
import type { MessageFormat, MessageWriter, WritingOptions } from "./transport/written-messages.ts";
import {
  outputParameters,
  parametersOf,
  type RequestOptions,
  type ToolFormat,
  type UsageOptions,
  withTools,
  withUsage,
} from "./request.ts";

export interface ChatRequestOptions extends RequestOptions, UsageOptions, WritingOptions {
  /**
   * Declarations for those who call the handler without a host, which hands them over itself. The machine decides which of
   * them are offered: exactly those of the call. A `tools` or `functions` among the call's own parameters takes their place.
   */
  readonly tools?: readonly ToolDeclaration[];
}

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
  for (const [parameter, value] of Object.entries(outputParameters(call, format))) body[parameter] ??= value;
  body["messages"] = write(call);
  return withTools(body, call, offered, format);
};

/** Writes the messages of a chat completions request. */
export const chatMessages: MessageFormat = (messages) => messages.map((message): JsonObject => toChatMessage(message));

const format: ToolFormat = {
  tool: ({ name, description, parameters }) => ({
    type: "function",
    function: { name, ...(description === undefined ? {} : { description }), parameters },
  }),
  choice: (name) => ({ type: "function", function: { name } }),
  native: (schema) => ({ response_format: { type: "json_schema", json_schema: schema } }),
};
