import type { Key } from "../../../src/terminal/input/key.ts";
import { KeyReader } from "../../../src/terminal/input/key-reader.ts";

/** Returns the keys of these chunks, the last of the input. */
export const keysOf = (...chunks: readonly string[]): readonly Key[] => {
  const reader = new KeyReader();
  const keys = chunks.flatMap((chunk) => reader.read(chunk));
  return [...keys, ...(reader.waitMs === null ? [] : reader.flush())];
};

/** Writes keys, one word each: names, texts in quotes, pastes in quotes after a `p`. */
export const written = (keys: readonly Key[]): string =>
  keys
    .map((key) => (key.type === "key" ? key.name : `${key.type === "paste" ? "p" : ""}${JSON.stringify(key.text)}`))
    .join(" ");

/** Joins neighbouring texts. */
export const joined = (keys: readonly Key[]): readonly Key[] => {
  const together: Key[] = [];
  for (const key of keys) {
    const last = together.at(-1);
    if (last?.type === "text" && key.type === "text")
      together.splice(-1, 1, { type: "text", text: last.text + key.text });
    else together.push(key);
  }
  return together;
};
