import type { EventStream } from "./event-stream.ts";

/** What takes the body of a streamed answer. */
export interface AnswerDecoder<Decoded> extends EventStream {
  /** All that came so far. */
  readonly decoded: () => Decoded;
  readonly state: Readonly<StreamState>;
}

export interface StreamState {
  /** Something of an answer came: a piece, an error, the end mark. */
  begun: boolean;
  /** The answer said how it ended. What would follow is no part of the reply. */
  finished: boolean;
  /** Nothing more is to be read. */
  done: boolean;
  /** How many events came that carried something of the answer. */
  heard: number;
  /** Before the answer ended, a piece came that can't be read: what is there has a hole. */
  damaged: boolean;
}

export const newState = (): StreamState => ({ begun: false, finished: false, done: false, heard: 0, damaged: false });

/** Feeds a whole body: its bytes, or pieces of them cut anywhere. A source that fails makes the promise fail. */
export const decodedFrom = async <Decoded>(
  { feed, end, decoded }: AnswerDecoder<Decoded>,
  source: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<Decoded> => {
  if (source instanceof Uint8Array) feed(source);
  else for await (const bytes of source) feed(bytes);
  end();
  return decoded();
};

/** Decodes a stream that came in one piece: some servers stream whether they were asked to or not. */
export const decodedWhole = <Decoded>({ feed, end, decoded }: AnswerDecoder<Decoded>, text: string): Decoded => {
  feed(new TextEncoder().encode(text));
  end();
  return decoded();
};

export const isStream = (text: string): boolean => /^\s*(data:|:|event:)/.test(text);
