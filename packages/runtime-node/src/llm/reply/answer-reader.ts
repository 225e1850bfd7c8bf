import type { LlmOutcome } from "@colloquy/host";
import type { Failure, Json, JsonObject } from "@colloquy/machine";
import { createParser } from "eventsource-parser";
import type { FailureSetting } from "../failure/failure.ts";
import { isObject, parseJson } from "../json/loose-json.ts";

/** Reads one answer of a server, which comes in pieces or whole. */
export abstract class AnswerReader<Decoded = unknown> {
  /** Something of an answer came: a piece, an error, the end mark. */
  begun = false;
  /** The answer said how it ended. Anything after that is not part of the reply. */
  finished = false;
  /** Nothing more is to be read. */
  done = false;
  /** The number of events that had a part of the answer. */
  heard = 0;
  /** A piece before the end could not be read, so the answer has a hole. */
  damaged = false;
  readonly #events = jsonEvents({
    onObject: (value, name) => this.onObject(value, name),
    onError: (error) => this.onError(error),
    onDone: () => {
      this.begun = this.done = true;
      this.heard += 1;
    },
    onDamage: () => (this.damaged ||= !this.finished),
  });

  /** Takes the next bytes, cut anywhere. */
  feed(bytes: Uint8Array): void {
    this.#events.feed(bytes);
  }

  /** No more bytes come. The last line counts even without its line break. */
  end(): void {
    this.#events.end();
  }

  /** Reads a body that came in one piece. Some servers stream unasked, and gateways report an error as a list of one. */
  readBody(text: string): void {
    if (/^\s*(data:|:|event:)/.test(text)) {
      this.feed(new TextEncoder().encode(text));
      return this.end();
    }
    const body = parseJson(text);
    const first: unknown = Array.isArray(body) ? body[0] : undefined;
    const answer = isObject(first) && isObject(first["error"]) ? first : body;
    if (!isObject(answer)) return;
    this.begun = true;
    this.onWhole(answer);
  }

  /** Reads a source of bytes, cut anywhere, to its end. Rejects if the source fails. */
  async readAll(source: Uint8Array | AsyncIterable<Uint8Array>): Promise<Decoded> {
    if (source instanceof Uint8Array) this.feed(source);
    else for await (const bytes of source) this.feed(bytes);
    this.end();
    return this.decoded();
  }

  abstract decoded(): Decoded;
  /** Returns how the answer so far ended the call; null if it is neither an answer nor an error. */
  abstract outcome(setting: FailureSetting): LlmOutcome | null;
  /** Returns how the call failed for a reason outside the answer, with the answer so far. */
  abstract failed(failure: Failure): LlmOutcome;
  /** Takes an object of a stream, and the name of its event if it has one. */
  protected abstract onObject(value: JsonObject, name?: string): void;
  protected abstract onError(error: Json): void;
  protected abstract onWhole(body: JsonObject): void;
}

/**
 * Reads server-sent events that are JSON objects, as servers really write them: without empty lines, with errors in between. The
 * cuts of the bytes do not matter. Throws a `RangeError` at a line of more than 67 million characters.
 */
export const jsonEvents = ({
  onObject,
  onError,
  onDone,
  onDamage,
}: {
  readonly onObject: (value: JsonObject, name?: string) => void;
  /** Takes an error that the server reported outside the format: by a line of its own, or by a text. */
  readonly onError: (error: Json) => void;
  /** The end mark `[DONE]` came. Nothing after it is read. */
  readonly onDone: () => void;
  /** An event began like an object, and is not one. */
  readonly onDamage: () => void;
}): { readonly feed: (bytes: Uint8Array) => void; readonly end: () => void } => {
  let done = false;
  const onData = (data: string, name?: string): void => {
    if (done) return;
    if (data.startsWith("{")) {
      const value = parseJson(data);
      if (isObject(value)) onObject(value, name);
      // Without an empty line between them, the parser takes two events for one of two lines.
      else if (data.includes("\n")) for (const line of data.split("\n")) onData(line, name);
      else onDamage();
      return;
    }
    if (data.trim() === "[DONE]") {
      done = true;
      onDone();
    } else if (/^\s+\{|\n/.test(data)) {
      for (const line of data.split("\n")) onData(line.trim(), name);
    } else if (name === "error" && data.trim() !== "") {
      onError(data);
    }
  };
  const onUnknownLine = (line: string): void => {
    const reported = parseJson(line.replace(/^error:/, ""));
    if (!isObject(reported)) return;
    if (line.startsWith("error:")) onError(reported["error"] ?? reported);
    else if (isObject(reported["error"])) onError(reported["error"]);
  };
  const decoder = new TextDecoder();
  const parser = createParser({
    onEvent: (event) => onData(event.data, event.event),
    onError: ({ type, line = "" }) => {
      if (type === "unknown-field") onUnknownLine(line);
    },
  });
  // The parser drops an unknown line that comes in pieces, so it gets whole lines only.
  let pieces: string[] = [];
  let waiting = 0;
  const feedText = (text: string): void => {
    const end = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
    if (end === 0) {
      waiting += text.length;
      if (waiting > lineCharacters)
        throw new RangeError(`a line of the stream is longer than ${lineCharacters} characters`);
      if (text !== "") pieces.push(text);
      return;
    }
    const lines = text.slice(0, end);
    parser.feed(pieces.length === 0 ? lines : pieces.join("") + lines);
    pieces = end === text.length ? [] : [text.slice(end)];
    waiting = text.length - end;
  };
  return {
    feed: (bytes) => feedText(decoder.decode(bytes, { stream: true })),
    end: () => feedText(`${decoder.decode()}\n\n`),
  };
};

/** Longer than any piece of a reply: an endless line must fail. */
const lineCharacters = 2 ** 26;
