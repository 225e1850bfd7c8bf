import type { LlmOutcome } from "@colloquy/host";
import type { Failure, Json, JsonObject } from "@colloquy/machine";
import { createParser } from "eventsource-parser";
import type { FailureSetting } from "../failure/failure.ts";
import { isObject, parseJson } from "../json/loose-json.ts";

/**
 * Reads one answer of a server, which comes whole or as server-sent events that are JSON objects, as servers really write them:
 * without empty lines, with errors in between. The cuts of the bytes do not matter.
 */
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
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({
    onEvent: ({ data, event }) => this.#onData(data, event),
    onError: ({ type, line = "" }) => {
      if (type === "unknown-field") this.#onUnknownLine(line);
    },
  });
  /** The last line so far, since the parser drops an unknown line that comes in pieces. */
  #pieces: string[] = [];
  #waiting = 0;

  /** Takes the next bytes, cut anywhere. @throws RangeError at a line of more than 67 million characters */
  feed(bytes: Uint8Array): void {
    this.#feedText(this.#decoder.decode(bytes, { stream: true }));
  }

  /** No more bytes come. The last line counts even without its line break. */
  end(): void {
    this.#feedText(`${this.#decoder.decode()}\n\n`);
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
  /** Takes an object after the end mark. */
  protected onLate(_value: JsonObject): void {}
  protected abstract onError(error: Json): void;
  protected abstract onWhole(body: JsonObject): void;

  #feedText(text: string): void {
    const end = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
    if (end === 0) {
      this.#waiting += text.length;
      if (this.#waiting > lineCharacters)
        throw new RangeError(`a line of the stream is longer than ${lineCharacters} characters`);
      if (text !== "") this.#pieces.push(text);
      return;
    }
    const lines = text.slice(0, end);
    this.#parser.feed(this.#pieces.length === 0 ? lines : this.#pieces.join("") + lines);
    this.#pieces = end === text.length ? [] : [text.slice(end)];
    this.#waiting = text.length - end;
  }

  #onData(data: string, name?: string): void {
    const value = data.startsWith("{") ? parseJson(data) : undefined;
    if (this.done) return isObject(value) ? this.onLate(value) : undefined;
    if (data.startsWith("{")) {
      if (isObject(value)) this.onObject(value, name);
      // Without an empty line between them, the parser takes two events for one of two lines.
      else if (data.includes("\n")) for (const line of data.split("\n")) this.#onData(line, name);
      // An event that began like an object.
      else this.damaged ||= !this.finished;
    } else if (data.trim() === "[DONE]") {
      this.begun = this.done = true;
      this.heard += 1;
    } else if (/^\s+\{|\n/.test(data)) {
      for (const line of data.split("\n")) this.#onData(line.trim(), name);
    } else if (name === "error" && data.trim() !== "") {
      this.onError(data);
    }
  }

  /** Some servers report an error outside the format, by a line of its own. */
  #onUnknownLine(line: string): void {
    const reported = parseJson(line.replace(/^error:/, ""));
    if (!isObject(reported)) return;
    if (line.startsWith("error:")) this.onError(reported["error"] ?? reported);
    else if (isObject(reported["error"])) this.onError(reported["error"]);
  }
}

/** Longer than any piece of a reply: an endless line must fail. */
const lineCharacters = 2 ** 26;
