import { StringDecoder } from "node:string_decoder";
import type { Key } from "../input/key.ts";
import { KeyReader } from "../input/key-reader.ts";

/**
 * Reads keys from what a terminal sends, in whatever pieces, until it is ended. A line that was typed before the terminal
 * gave away single keys ends with a line feed in place of Enter.
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
      // A process that was busy meanwhile has not read yet what has come: that is read before.
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
