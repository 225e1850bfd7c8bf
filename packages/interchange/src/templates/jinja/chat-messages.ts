import {
  contentText,
  type Json,
  type JsonObject,
  type Message,
  type ToolCallPart,
  type ToolDeclaration,
  toolCallsOf,
  toolResultOf,
} from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";

/**
 * Converts a message to the form in which transformers passes it to a template. Returns an error text if it has none.
 */
export const chatMessage = (message: Message): Either.Either<string, JsonObject> => {
  const { id, role, name, parts } = message;
  const result = toolResultOf(message);
  const content = result?.content ?? parts;
  const other = content.find(({ type }) => type === "image" || type === "opaque");
  if (other !== undefined) {
    const what = other.type === "image" ? "an image" : "an attachment";
    return Either.left(
      `message ${id} has ${what}, which a model can't be sent as text: call it through chat completions, or leave such messages out by a policy`,
    );
  }
  const calls = toolCallsOf(message).map(toolCall);
  const reasoning = parts.flatMap((part) => (part.type === "reasoning" ? part.text : [])).join("\n");
  const text = contentText(content);
  return Either.right({
    // Few templates know the newer role.
    role: role === "developer" ? "system" : role,
    content: text,
    ...(result === undefined ? {} : { name: result.name, tool_call_id: result.providerCallId ?? result.callId }),
    ...(name === undefined ? {} : { name }),
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  });
};

/** Returns a tool as transformers describes it to a template. */
export const chatTool = ({ name, description, parameters }: ToolDeclaration): JsonObject => ({
  type: "function",
  function: { name, description: description ?? "", parameters: parameters ?? { type: "object", properties: {} } },
});

const toolCall = ({ callId, providerCallId, name, arguments: written }: ToolCallPart): JsonObject => ({
  id: providerCallId ?? callId,
  type: "function",
  function: { name, arguments: argumentsOf(written) },
});

/**
 * Parses arguments to an object, because templates iterate over its members. Otherwise it returns the model's text.
 */
const argumentsOf = (written: string): Json => {
  try {
    const read: unknown = JSON.parse(written);
    // The result of JSON.parse is JSON.
    return typeof read === "object" && read !== null && !Array.isArray(read) ? (read as JsonObject) : written;
  } catch {
    return written;
  }
};
