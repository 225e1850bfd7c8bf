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
  const pressed = (keys: readonly Key[]): void => {
    for (const key of keys) press(key);
    if (reader.waitMs !== null) timer = setTimeout(() => pressed(reader.flush()), reader.waitMs);
  };
  let isFirst = true;
  const read = (chunk: Buffer | string): void => {
    clearTimeout(timer);
    const text = typeof chunk === "string" ? chunk : decoder.write(chunk);
    pressed(reader.read(isFirst ? text.replace(lineTypedBefore, "$1\r") : text));
    isFirst = false;
  };
  input.on("data", read);
  return () => {
    clearTimeout(timer);
    input.off("data", read);
  };
};

const lineTypedBefore = /^([^\r\n]+)\n$/;
