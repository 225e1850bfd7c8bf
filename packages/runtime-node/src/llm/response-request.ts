import { strictSchema } from "@colloquy/host";
import { type ResponseItem, toResponseItems } from "@colloquy/interchange";
import type { CallLlm, Json, JsonObject, ToolDeclaration } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { isList, isObject, listOf } from "./reply/loose-json.ts";
import type { Connected } from "./transport/connection.ts";
import type { RequestBody } from "./transport/request-body.ts";
import type { MessageFormat, MessageWriter, WritingOptions } from "./transport/written-messages.ts";
import { offeredTools, toolParameters, withoutTools } from "./tools-of-call.ts";

export interface ResponseRequestOptions extends WritingOptions {
  /** The model that is called where neither thread nor ask names one. */
  readonly model?: string;
  /** Ask for the reply piece by piece, where the call's parameters do not say. Default true. */
  readonly stream?: boolean;
}

/**
 * The body of a request of the Responses API: the call's parameters as they are, its messages as items, and exactly the tools
 * that it offers; or in words why there can be none. Nothing is added that a parameter contradicts. The server is to store
 * nothing, and so to give its reasoning in a form that can be sent back; `include: null` leaves that out. Reasoning without
 * it is not sent back: a server that stored nothing does not know it. A summary is asked for without tools, whatever the
 * parameters say.
 *
 * @param declared The declarations that the host hands over.
 * @param write Writes the messages as `responseItems`.
 */
export const responseRequest = (
  call: CallLlm,
  { handler, options }: Pick<Connected<ResponseRequestOptions>, "handler" | "options">,
  declared: readonly ToolDeclaration[],
  write: MessageWriter,
): Either.Either<string, RequestBody> => {
  const body: { -readonly [Parameter in keyof RequestBody]: RequestBody[Parameter] } = {
    store: false,
    include: [encryptedReasoning],
    ...call.model,
  };
  if (body["model"] === undefined && options.model !== undefined) body["model"] = options.model;
  if (body["stream"] === undefined && options.stream !== false) body["stream"] = true;
  if (body["include"] === null) delete body["include"];
  const { text, ...output } = outputParameters(call, call.model["tools"]);
  for (const [parameter, value] of Object.entries(output)) body[parameter] ??= value;
  if (isObject(text)) body["text"] = { ...text, ...(isObject(body["text"]) ? body["text"] : {}) };
  body["input"] = write(call, body["store"] === true ? "stored" : "");
  if (call.purpose === "summary") return Either.right(withoutTools(body));
  const given = body["tools"];
  if (isList(given) && call.output?.mode === "tool") {
    // In the place of those of the call, but for the one that has to be called.
    const { name } = call.output;
    return Either.right({
      ...body,
      tools: [...given, ...declared.filter((tool) => tool.name === name).map(toolToWire)],
    });
  }
  if (given !== undefined) return Either.right(body);
  return Either.map((tools: readonly ToolDeclaration[]) =>
    tools.length === 0 ? body : { ...body, tools: tools.map(toolToWire) },
  )(offeredTools(handler, call, declared));
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

/** The items of a request: all of them where the server stores it. */
export const responseItems: MessageFormat = (messages, variant) => {
  const items = toResponseItems(messages).value;
  return variant === "stored" ? items : items.filter(canBeSentBack);
};

const canBeSentBack = (item: ResponseItem): boolean =>
  item.type !== "reasoning" || (typeof item["encrypted_content"] === "string" && item["encrypted_content"] !== "");

/** How a model is brought to write the output that the call wants: one more tool of its is among the tools already. */
const outputParameters = ({ output, tools = [] }: CallLlm, given: Json | undefined): JsonObject => {
  switch (output?.mode) {
    case "native": {
      const { name, schema } = output;
      return { text: { format: { type: "json_schema", name, schema: strictSchema(schema), strict: true } } };
    }
    case "tool": {
      const isOneOfSeveral = isList(given) ? given.length > 0 : tools.length > 1;
      return { tool_choice: isOneOfSeveral ? "required" : { type: "function", name: output.name } };
    }
    default:
      return {};
  }
};

/** The API would make a schema strict that says nothing of it. */
const toolToWire = (tool: ToolDeclaration): JsonObject => ({
  type: "function",
  name: tool.name,
  ...(tool.description === undefined ? {} : { description: tool.description }),
  parameters: toolParameters(tool),
  strict: false,
});
