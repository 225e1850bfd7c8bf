import type { LlmDelta } from "@colloquy/host";
import type { Json } from "@colloquy/machine";
import { chatChunks, type DecodedChat } from "./chat-chunks.ts";
import { jsonEvents } from "./json-events.ts";
import { isObject, listOf, parseJson } from "./loose-json.ts";
import { type AnswerDecoder, decodedFrom, decodedWhole, isStream, newState } from "./whole-stream.ts";

/** How an answer is read. */
export interface ChatFormat {
  /** Makes a body (`whole`), or a chunk of a stream, of what another format has in its place. */
  readonly read?: (value: Json, whole?: boolean) => Json;
  /** Whether nothing that the server still sends is of use. */
  readonly isOver?: () => boolean;
  /** All choices are one reply. */
  readonly isOne?: boolean;
}

/** Decodes a streamed chat completion as it comes, and reports the pieces of the answer. */
export const chatStream = (
  onDelta?: (delta: LlmDelta) => void,
  { read = (chunk) => chunk, isOver, isOne }: ChatFormat = {},
): AnswerDecoder<DecodedChat> => {
  const chunks = chatChunks(onDelta, isOne);
  const state = newState();
  const add = (chunk: Json): void => {
    state.begun = true;
    if (carries(chunk)) state.heard += 1;
    chunks.add(read(chunk));
    state.finished = chunks.isFinished();
    state.done ||= isOver?.() === true;
  };
  const { feed, end } = jsonEvents({
    onObject: (chunk, name) => add(name === "error" ? errorIn(chunk) : chunk),
    onError: (error) => add({ error }),
    onDone: () => {
      state.begun = true;
      state.done = true;
      state.heard += 1;
    },
    onDamage: () => (state.damaged ||= !state.finished),
  });
  return {
    feed,
    end: () => {
      end();
      chunks.end();
    },
    decoded: chunks.decoded,
    state,
  };
};

/** Whether a chunk has more than its envelope, which servers repeat to keep a connection open. */
const carries = (value: Json): boolean => {
  if (Array.isArray(value)) return value.some(carries);
  if (isObject(value))
    return Object.entries(value).some(([name, member]) => !envelope.has(name) && carries(member ?? null));
  return value !== null && value !== "";
};

const envelope: ReadonlySet<string> = new Set(
  "id object created model provider system_fingerprint service_tier usage obfuscation index role type".split(" "),
);

/** What an event of the name `error` says is one, however it is wrapped; unless it is a piece of the answer after all. */
const errorIn = (chunk: Json): Json =>
  isObject(chunk) && (chunk["error"] ?? chunk["choices"]) !== undefined ? chunk : { error: chunk };

/**
 * Decodes a whole streamed chat completion: its bytes, or pieces of them cut anywhere. What can't be read is passed
 * over; a source that fails makes the promise fail.
 */
export const decodeChatStream = (
  source: Uint8Array | AsyncIterable<Uint8Array>,
  onDelta?: (delta: LlmDelta) => void,
): Promise<DecodedChat> => decodedFrom(chatStream(onDelta), source);

/** Decodes the body of a chat completion that came in one piece. Null when it is nothing of the kind. */
export const decodeChatBody = (text: string, format: ChatFormat = {}): DecodedChat | null => {
  if (isStream(text)) return decodedWhole(chatStream(undefined, format), text);
  const { read = (value) => value, isOne } = format;
  const parsed = parseJson(text);
  const body = parsed === undefined ? parsed : read(parsed, true);
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
