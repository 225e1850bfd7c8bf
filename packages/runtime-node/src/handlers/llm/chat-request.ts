import type { CallLlm, Json, JsonObject, ToolDeclaration } from "@colloquy/machine";
import { toChatMessage } from "@colloquy/machine";

export interface ChatRequestOptions {
  /** The model that is called where neither thread nor ask names one. */
  readonly model?: string;
  /** What the model may call in an answer; default nothing. A `tools` or `functions` among the call's own parameters takes their place. A summary is never offered any. */
  readonly tools?: readonly ToolDeclaration[];
  /** Ask for the reply piece by piece, where the call's parameters do not say. Default true. */
  readonly stream?: boolean;
  /** Ask streams to report usage (`stream_options`), where the call's parameters do not say. Default true. */
  readonly includeUsage?: boolean;
}

/**
 * The body of a chat completions request: the call's parameters as they are, its messages, and the tools. Nothing is
 * added that a parameter contradicts; `stream_options: null` leaves that out. A summary is asked for without tools,
 * whatever the parameters say.
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
  if (call.purpose === "summary") return withoutTools(body);
  if (body["tools"] === undefined && body["functions"] === undefined && tools.length > 0) {
    body["tools"] = tools.map(toolToWire);
  }
  return body;
};

/** Whoever writes a summary has nothing to call. Servers refuse to be told how to call where there is nothing. */
const withoutTools = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([parameter]) => !ofTools.has(parameter)));

const ofTools: ReadonlySet<string> = new Set([
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "functions",
  "function_call",
]);

const toolToWire = (tool: ToolDeclaration): JsonObject => ({
  type: "function",
  function: {
    name: tool.name,
    ...(tool.description === undefined ? {} : { description: tool.description }),
    // Some servers refuse a function that does not say what it takes.
    parameters: tool.parameters ?? { type: "object", properties: {} },
  },
});
