import type { CallLlm, Json, JsonObject, ToolDeclaration } from "@colloquy/machine";
import { strictSchema } from "@colloquy/host";
import { toChatMessage } from "@colloquy/interchange";
import * as Either from "fp-ts/lib/Either.js";
import { isList } from "./reply/loose-json.ts";
import type { Connected } from "./transport/connection.ts";
import type { RequestBody } from "./transport/request-body.ts";
import type { MessageFormat, MessageWriter, WritingOptions } from "./transport/written-messages.ts";
import { offeredTools, toolParameters, withoutTools } from "./tools-of-call.ts";

export interface ChatRequestOptions extends WritingOptions {
  /** The model that is called where neither thread nor ask names one. */
  readonly model?: string;
  /**
   * Declarations for those who call the handler without a host, which hands them over itself. The machine decides which of
   * them are offered: exactly those of the call. A `tools` or `functions` among the call's own parameters takes their place.
   */
  readonly tools?: readonly ToolDeclaration[];
  /** Ask for the reply piece by piece, where the call's parameters do not say. Default true. */
  readonly stream?: boolean;
  /** Ask streams to report usage (`stream_options`), where the call's parameters do not say. Default true. */
  readonly includeUsage?: boolean;
}

/**
 * The body of a chat completions request: the call's parameters as they are, its messages, and exactly the tools that it
 * offers; or in words why there can be none. Nothing is added that a parameter contradicts; `stream_options: null` leaves
 * that out. A summary is asked for without tools, whatever the parameters say.
 *
 * @param declared The declarations that the host hands over.
 * @param write Writes the messages as `chatMessages`.
 */
export const chatRequest = (
  call: CallLlm,
  { handler, options }: Pick<Connected<ChatRequestOptions>, "handler" | "options">,
  declared: readonly ToolDeclaration[],
  write: MessageWriter,
): Either.Either<string, RequestBody> => {
  const { stream_options: streamOptions, ...parameters } = call.model;
  const body: { -readonly [Parameter in keyof RequestBody]: RequestBody[Parameter] } = { ...parameters };
  if (body["model"] === undefined && options.model !== undefined) body["model"] = options.model;
  if (body["stream"] === undefined && options.stream !== false) body["stream"] = true;
  if (streamOptions !== undefined && streamOptions !== null) body["stream_options"] = streamOptions;
  if (streamOptions === undefined && body["stream"] === true && options.includeUsage !== false) {
    body["stream_options"] = { include_usage: true };
  }
  for (const [parameter, value] of Object.entries(outputParameters(call, parameters["tools"])))
    body[parameter] ??= value;
  body["messages"] = write(call);
  if (call.purpose === "summary") return Either.right(withoutTools(body));
  const given = body["tools"];
  if (isList(given) && call.output?.mode === "tool") {
    // In the place of those of the call, but for the one that has to be called.
    const { name } = call.output;
    const own = declared.filter((tool) => tool.name === name);
    return Either.right({ ...body, tools: [...given, ...own.map(toolToWire)] });
  }
  if (body["tools"] !== undefined || body["functions"] !== undefined) return Either.right(body);
  return Either.map((tools: readonly ToolDeclaration[]) =>
    tools.length === 0 ? body : { ...body, tools: tools.map(toolToWire) },
  )(offeredTools(handler, call, declared, options.tools ?? []));
};

/** The messages of a chat completions request. */
export const chatMessages: MessageFormat = (messages) => messages.map((message): JsonObject => toChatMessage(message));

/** How a model is brought to write the output that the call wants: one more tool of its is among the tools already. */
const outputParameters = ({ output, tools = [] }: CallLlm, given: Json | undefined): JsonObject => {
  switch (output?.mode) {
    case "native": {
      const { name, schema } = output;
      return {
        response_format: { type: "json_schema", json_schema: { name, schema: strictSchema(schema), strict: true } },
      };
    }
    case "tool":
      return {
        tool_choice: (isList(given) ? given.length > 0 : tools.length > 1)
          ? "required"
          : { type: "function", function: { name: output.name } },
      };
    default:
      return {};
  }
};

const toolToWire = (tool: ToolDeclaration): JsonObject => ({
  type: "function",
  function: {
    name: tool.name,
    ...(tool.description === undefined ? {} : { description: tool.description }),
    parameters: toolParameters(tool),
  },
});
