import type { LlmOutcome } from "@colloquy/host";
import type { Failure, JsonObject } from "@colloquy/machine";
import type { FailureSetting } from "../failure/failure.ts";
import type { EventStream } from "./json-events.ts";
import { isObject, parseJson } from "../json/loose-json.ts";

/** Reads one answer of a server, which comes in pieces or whole. */
export interface AnswerReader extends EventStream {
  /** Takes an answer that came in one piece. */
  readonly whole: (body: JsonObject) => void;
  readonly state: Readonly<ReadState>;
  /** Returns how the answer, as far as it came, ended the call; null if it holds neither an answer nor an error. */
  readonly outcome: (setting: FailureSetting) => LlmOutcome | null;
  /** Returns how the call failed for a reason outside the answer, with what had come of it. */
  readonly failed: (failure: Failure) => LlmOutcome;
}

export interface ReadState {
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

export const newState = (): ReadState => ({ begun: false, finished: false, done: false, heard: 0, damaged: false });

/** Reads a body that came in one piece: some servers stream whether they were asked to or not, and gateways report an error as a list of one. */
export const readWhole = ({ feed, end, whole }: Pick<AnswerReader, "feed" | "end" | "whole">, text: string): void => {
  if (/^\s*(data:|:|event:)/.test(text)) {
    feed(new TextEncoder().encode(text));
    return end();
  }
  const body = parseJson(text);
  const first: unknown = Array.isArray(body) ? body[0] : undefined;
  if (isObject(body)) whole(body);
  else if (isObject(first) && isObject(first["error"])) whole(first);
};

/** Reads a source of bytes, cut anywhere, to its end. A source that fails makes the promise fail. */
export const readAll = async (
  { feed, end }: EventStream,
  source: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<void> => {
  if (source instanceof Uint8Array) feed(source);
  else for await (const bytes of source) feed(bytes);
  end();
};
