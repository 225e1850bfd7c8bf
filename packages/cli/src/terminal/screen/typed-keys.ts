import { StringDecoder } from "node:string_decoder";
import type { Key } from "../input/key.ts";
import { KeyReader } from "../input/key-reader.ts";

/**
 * Reads keys from a terminal's input, in any pieces. Returns a function that stops it. A line that was typed before the
 * raw mode ends with a line feed instead of Enter.
 */
export const readKeys = (input: NodeJS.ReadableStream, press: (key: Key) => void): (() => void) => {
  const reader = new KeyReader();
  const decoder = new StringDecoder("utf8");
  let timer: NodeJS.Timeout | undefined;
  let late: NodeJS.Immediate | undefined;
  const waitNoLonger = (): void => {
    clearTimeout(timer);
    clearImmediate(late);
  };
  const pressed = (keys: readonly Key[]): void => {
    for (const key of keys) press(key);
    if (reader.waitMs === null) return;
    timer = setTimeout(() => {
      // If the process was busy, some input may be unread; it is read first.
      late = setImmediate(() => pressed(reader.flush()));
    }, reader.waitMs);
  };
  let isFirst = true;
  const read = (chunk: Buffer | string): void => {
    waitNoLonger();
    const text = typeof chunk === "string" ? chunk : decoder.write(chunk);
    pressed(reader.read(isFirst ? text.replace(lineTypedBefore, "$1\r") : text));
    isFirst = false;
  };
  input.on("data", read);
  return () => {
    waitNoLonger();
    input.off("data", read);
  };
};

const lineTypedBefore = /^([^\r\n]+)\n$/;
