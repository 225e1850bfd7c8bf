import type { LlmDelta } from "@colloquy/host";
import type { Json } from "@colloquy/machine";
import { chatChunks, type DecodedChat } from "./chat-chunks.ts";
import { eventStream } from "./event-stream.ts";
import { isObject, parseJson } from "./loose-json.ts";

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
  /** Before the answer ended, a piece came that can't be read: what is there has a hole. */
  damaged: boolean;
}

/**
 * Decodes a streamed chat completion as it comes, and reports the pieces of the answer.
 *
 * @param as Makes a chunk of what another format has in its place.
 */
export const chatStream = (
  onDelta?: (delta: LlmDelta) => void,
  as: (chunk: Json) => Json = (chunk) => chunk,
): ChatStream => {
  const chunks = chatChunks(onDelta);
  const state: ChatStreamState = { begun: false, finished: false, done: false, damaged: false };

  const add = (chunk: Json): void => {
    state.begun = true;
    chunks.add(as(chunk));
    state.finished = chunks.isFinished();
  };
  const onData = (data: string, name?: string): void => {
    if (state.done) return;
    if (data.startsWith("{")) {
      const chunk = parseJson(data);
      if (chunk !== undefined) add(name === "error" ? errorIn(chunk) : chunk);
      // Without an empty line between them, the parser takes two events for one of two lines.
      else if (data.includes("\n")) for (const line of data.split("\n")) onData(line, name);
      else state.damaged ||= !state.finished;
      return;
    }
    if (data.trim() === "[DONE]") {
      state.begun = true;
      state.done = true;
    } else if (/^\s+\{|\n/.test(data)) {
      for (const line of data.split("\n")) onData(line.trim(), name);
    } else if (name === "error" && data.trim() !== "") {
      add({ error: data });
    }
  };
  const onUnknownLine = (line: string): void => {
    const reported = parseJson(line.replace(/^error:/, ""));
    if (!isObject(reported)) return;
    if (line.startsWith("error:")) add({ error: reported["error"] ?? reported });
    else if (isObject(reported["error"])) add({ error: reported["error"] });
  };

  const events = eventStream({ onData, onUnknownLine });
  return { feed: events.feed, end: events.end, decoded: chunks.decoded, state };
};

/** What an event of the name `error` says is one, however it is wrapped; unless it is a piece of the answer after all. */
const errorIn = (chunk: Json): Json =>
  isObject(chunk) && (chunk["error"] ?? chunk["choices"]) !== undefined ? chunk : { error: chunk };

/**
 * Decodes a whole streamed chat completion: its bytes, or pieces of them cut anywhere. What can't be read is passed
 * over; a source that fails makes the promise fail.
 */
export const decodeChatStream = async (
  source: Uint8Array | AsyncIterable<Uint8Array>,
  onDelta?: (delta: LlmDelta) => void,
): Promise<DecodedChat> => {
  const stream = chatStream(onDelta);
  if (source instanceof Uint8Array) stream.feed(source);
  else for await (const bytes of source) stream.feed(bytes);
  stream.end();
  return stream.decoded();
};
