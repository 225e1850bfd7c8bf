import { PassThrough } from "node:stream";
import { afterEach, expect, test, vi } from "vitest";
import type { Key } from "../../../src/terminal/input/key.ts";
import { readKeys } from "../../../src/terminal/screen/ink-screen.ts";

/** Returns the keys in consecutive chunks. */
const keysOf = (...chunks: readonly string[]): readonly Key[] => {
  const input = new PassThrough();
  const keys: Key[] = [];
  const stop = readKeys(input, (key) => keys.push(key));
  for (const chunk of chunks) input.emit("data", Buffer.from(chunk));
  stop();
  return keys;
};

afterEach(() => void vi.useRealTimers());

test("an escape is that key when nothing came for a moment, and no key where the rest of its sequence is there to be read", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "clearImmediate"] });
  const input = new PassThrough();
  const keys: Key[] = [];
  const stop = readKeys(input, (key) => keys.push(key));
  const come = (chunk: string): boolean => input.emit("data", Buffer.from(chunk));
  come("\x1b");
  vi.advanceTimersByTime(50);
  vi.runAllTimers();
  expect(keys.splice(0)).toMatchObject([{ name: "escape" }]);
  // The process was busy until the timeout, so the timer fires before it reads.
  come("\x1b");
  vi.advanceTimersToNextTimer();
  come("[D");
  vi.runAllTimers();
  expect(keys).toMatchObject([{ name: "left" }]);
  stop();
});

test("a line that was typed before the terminal gave away single keys is sent", () => {
  expect(keysOf("hello\n", "\n", "a\n")).toEqual([...keysOf("hello\r"), ...keysOf("\n"), ...keysOf("", "a\n")]);
  expect(keysOf("hello\r").at(-1)).toMatchObject({ name: "enter" });
  expect(keysOf("\n")).toMatchObject([{ name: "ctrl+j" }]);
});

test("several such lines stay in the input like a paste, since the user has not seen the first being sent", () => {
  expect(keysOf("one\ntwo\n", "\x1b[A")).toMatchObject([{ type: "paste", text: "one\ntwo\n" }, { name: "up" }]);
});
