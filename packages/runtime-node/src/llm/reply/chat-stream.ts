import type { LlmDelta } from "@colloquy/host";
import type { Json } from "@colloquy/machine";
import { chatChunks, type DecodedChat } from "./chat-chunks.ts";
import { jsonEvents } from "./json-events.ts";
import { isObject } from "./loose-json.ts";
import { decodedFrom } from "./whole-stream.ts";

/** What takes the body of a streamed chat completion. */
export interface ChatStream {
  /** The next bytes, cut anywhere. */
  readonly feed: (bytes: Uint8Array) => void;
  /** No more bytes come. */
  readonly end: () => void;
  /** All that came so far. */
  readonly decoded: () => DecodedChat;
  readonly state: Readonly<ChatStreamState>;
}

export interface ChatStreamState {
  /** Something of a chat completion came: a chunk, an error, the end mark. */
  begun: boolean;
  /** The answer said why it ended. */
  finished: boolean;
  /** The end mark `[DONE]` came. */
  done: boolean;
  /** How many events came that carried something of the answer. */
  heard: number;
  /** Before the answer ended, a piece came that can't be read: what is there has a hole. */
  damaged: boolean;
}

/**
 * Decodes a streamed chat completion as it comes, and reports the pieces of the answer.
 *
 * @param as Makes a chunk of what another format has in its place.
 * @param isOne All choices are one reply.
 */
export const chatStream = (
  onDelta?: (delta: LlmDelta) => void,
  as: (chunk: Json) => Json = (chunk) => chunk,
  isOne = false,
): ChatStream => {
  const chunks = chatChunks(onDelta, isOne);
  const state: ChatStreamState = { begun: false, finished: false, done: false, heard: 0, damaged: false };

  const add = (chunk: Json): void => {
    state.begun = true;
    if (carries(chunk)) state.heard += 1;
    chunks.add(as(chunk));
    state.finished = chunks.isFinished();
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
