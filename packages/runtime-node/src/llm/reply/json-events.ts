import type { Json } from "@colloquy/machine";
import { type EventStream, eventStream } from "./event-stream.ts";
import { isObject, parseJson } from "./loose-json.ts";

/** What a stream whose events are JSON objects reports to its reader. */
export interface JsonEventsListener {
  /** An object, and the name of its event where it has one. */
  readonly onObject: (value: Json, name?: string) => void;
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
      if (value !== undefined) onObject(value, name);
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
  return eventStream({ onData, onUnknownLine });
};
