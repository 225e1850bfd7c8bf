import type { Json } from "@colloquy/machine";
import { chatChunks, type DecodedChat } from "./chat-chunks.ts";
import { chatStream } from "./chat-stream.ts";
import { isObject, listOf, parseJson } from "./loose-json.ts";
import { decodedWhole, isStream } from "./whole-stream.ts";

/**
 * Decodes the body of a chat completion that came in one piece. Null when it is nothing of the kind.
 *
 * @param as Makes a body (`whole`), or a chunk of a stream, of what another format has in its place.
 * @param isOne All choices are one reply.
 */
export const decodeChatBody = (
  text: string,
  as: (value: Json, whole?: boolean) => Json = (value) => value,
  isOne = false,
): DecodedChat | null => {
  if (isStream(text)) return decodedWhole(chatStream(undefined, as, isOne), text);
  const parsed = parseJson(text);
  const body = parsed === undefined ? parsed : as(parsed, true);
  if (!isObject(body)) return errorOfList(body);
  const chunks = chatChunks(undefined, isOne);
  const choices = listOf(body["choices"]).filter(isObject);
  // In a body the place of a choice is its index.
  chunks.add({ ...body, choices: choices.map((choice, index) => ({ index, ...choice })) });
  const decoded = chunks.decoded();
  // A body without choices is about what went wrong, under whatever name.
  return decoded.error === undefined && body["choices"] === undefined ? { ...decoded, error: body } : decoded;
};

/** Gemini reports an error as a list of one. */
const errorOfList = (body: Json | undefined): DecodedChat | null => {
  const [first] = listOf(body);
  return isObject(first) && isObject(first["error"]) ? { choices: [], usage: null, error: first["error"] } : null;
};
