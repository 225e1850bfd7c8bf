import type { Json, JsonObject } from "@colloquy/machine";
import type { DecodedChat, DecodedChoice } from "./chat-chunks.ts";
import { chatStream } from "./chat-stream.ts";
import { isObject, listOf, parseJson } from "./loose-json.ts";

/**
 * Decodes the body of a chat completion that came in one piece. Null when it is nothing of the kind.
 *
 * @param as Makes a body (`whole`), or a chunk of a stream, of what another format has in its place.
 */
export const decodeChatBody = (
  text: string,
  as: (value: Json, whole?: boolean) => Json = (value) => value,
): DecodedChat | null => {
  if (/^\s*(data:|:|event:)/.test(text)) return decodeUnasked(text, as);
  const parsed = parseJson(text);
  const body = parsed === undefined ? parsed : as(parsed, true);
  if (!isObject(body)) return errorOfList(body);
  const { usage, model, id } = body;
  const choices = listOf(body["choices"]).filter(isObject);
  // A body without choices is about what went wrong, under whatever name.
  const error = body["error"] ?? choices[0]?.["error"] ?? (body["choices"] === undefined ? body : null);
  return {
    choices: choices.map(choiceOf),
    usage: isObject(usage) ? usage : null,
    ...(typeof model === "string" && model !== "" ? { model } : {}),
    ...(typeof id === "string" && id !== "" ? { responseId: id } : {}),
    ...(error === null ? {} : { error }),
  };
};

/** Some servers stream whether they were asked to or not. */
const decodeUnasked = (text: string, as: (chunk: Json) => Json): DecodedChat => {
  const stream = chatStream(undefined, as);
  stream.feed(new TextEncoder().encode(text));
  stream.end();
  return stream.decoded();
};

/** Gemini reports an error as a list of one. */
const errorOfList = (body: Json | undefined): DecodedChat | null => {
  const [first] = listOf(body);
  return isObject(first) && isObject(first["error"]) ? { choices: [], usage: null, error: first["error"] } : null;
};

const choiceOf = (choice: JsonObject, position: number): DecodedChoice => ({
  index: typeof choice["index"] === "number" ? choice["index"] : position,
  finish_reason: typeof choice["finish_reason"] === "string" ? choice["finish_reason"] : null,
  message: isObject(choice["message"]) ? choice["message"] : {},
});
