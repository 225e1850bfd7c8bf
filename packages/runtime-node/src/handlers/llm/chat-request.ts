import type { CallLlm, Json, JsonObject, ToolDeclaration } from "@colloquy/machine";
import { toChatMessage } from "@colloquy/machine";

export interface ChatRequestOptions {
  /** The model that is called where neither thread nor ask names one. */
  readonly model?: string;
  /** What the model may call; default nothing. A `tools` or `functions` among the call's own parameters takes their place. */
  readonly tools?: readonly ToolDeclaration[];
  /** Ask for the reply piece by piece, where the call's parameters do not say. Default true. */
  readonly stream?: boolean;
  /** Ask streams to report usage (`stream_options`), where the call's parameters do not say. Default true. */
  readonly includeUsage?: boolean;
}

/**
 * The body of a chat completions request: the call's parameters as they are, its messages, and the tools. Nothing is
 * added that a parameter contradicts; `stream_options: null` leaves that out.
 */
export const chatRequest = (call: CallLlm, options: ChatRequestOptions): JsonObject => {
  const { stream_options: streamOptions, ...parameters } = call.model;
  const body: { [parameter: string]: Json | undefined } = { ...parameters };
  if (body["model"] === undefined && options.model !== undefined) body["model"] = options.model;
  if (body["stream"] === undefined && options.stream !== false) body["stream"] = true;
  if (streamOptions !== undefined && streamOptions !== null) body["stream_options"] = streamOptions;
  if (streamOptions === undefined && body["stream"] === true && options.includeUsage !== false) {
    body["stream_options"] = { include_usage: true };
  }
  body["messages"] = call.messages.map((message): JsonObject => toChatMessage(message));
  const { tools = [] } = options;
  if (body["tools"] === undefined && body["functions"] === undefined && tools.length > 0) {
    body["tools"] = tools.map(toolToWire);
  }
  return body;
};

const toolToWire = (tool: ToolDeclaration): JsonObject => ({
  type: "function",
  function: {
    name: tool.name,
    ...(tool.description === undefined ? {} : { description: tool.description }),
    // Some servers refuse a function that does not say what it takes.
    parameters: tool.parameters ?? { type: "object", properties: {} },
  },
});
