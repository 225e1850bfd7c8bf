import type { Json, JsonObject } from "@colloquy/machine";
import { createParser } from "eventsource-parser";
import { isObject, parseJson } from "../json/loose-json.ts";

/** What takes the bytes of a server-sent event stream. */
export interface EventStream {
  /** The next bytes, cut anywhere. */
  readonly feed: (bytes: Uint8Array) => void;
  /** No more bytes come: what is left counts, even where its last line break is missing. */
  readonly end: () => void;
}

/** What a stream whose events are JSON objects reports to its reader. */
export interface JsonEventsListener {
  /** An object, and the name of its event where it has one. */
  readonly onObject: (value: JsonObject, name?: string) => void;
  /** What went wrong at the server, said outside the format: by a line of its own, or by a text. */
  readonly onError: (error: Json) => void;
  /** The end mark `[DONE]`. What follows it is not read. */
  readonly onDone: () => void;
  /** An event began like an object and is none. */
  readonly onDamage: () => void;
}

/** Reads server-sent events that are JSON objects, as servers really write them: without empty lines, with errors in between. */
export const jsonEvents = ({ onObject, onError, onDone, onDamage }: JsonEventsListener): EventStream => {
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
  return eventStream(onData, onUnknownLine);
};

/**
 * Reads server-sent events as they come. However the bytes are cut, the listener gets the same. Comments, ids
 * and lines that mean nothing are passed over; all three line ends are understood. Throws a `RangeError` at a
 * line of more than 67 million characters.
 */
const eventStream = (
  onData: (data: string, name?: string) => void,
  onUnknownLine: (line: string) => void,
): EventStream => {
  const decoder = new TextDecoder();
  const parser = createParser({
    onEvent: (event) => onData(event.data, event.event),
    onError: (error) => {
      if (error.type === "unknown-field") onUnknownLine(error.line ?? "");
    },
  });
  // The parser drops an unknown line that it is given in pieces, so it is given whole lines only.
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

/** Far more than a piece of any reply; a line without an end must come to one. */
const lineCharacters = 2 ** 26;
