import { describe, expect, test } from "vitest";
import { type Action, actions, keymapOf, keymaps } from "../../../src/terminal/input/keymap.ts";
import { keysOf } from "./keys.ts";

/** The bytes that a terminal sends, and their action in the presets `standard` and, if it differs, `seed`. */
const table: readonly (readonly [sent: string, standard: Action, seed?: Action])[] = [
  ["\r", "send"],
  ["\t", "completeOrQueue"],
  ["\x1b[Z", "completeBackward"],
  ["\x1b[13;2u", "newline"],
  ["\x1b[27;2;13~", "newline"],
  ["\x1b\r", "newline"],
  ["\x1b[13;3u", "newline"],
  ["\n", "newline"],
  ["\x1b", "closeOrStop", "closeOrStopOrQuit"],
  ["\x03", "interrupt"],
  ["\x04", "deleteForwardOrQuit"],
  ["\x0e", "newThreadWhenEmpty", "newThread"],
  ["\x12", "searchHistoryOrReset", "reset"],
  ["\x15", "killToLineStart", "clearInput"],
  ["\x19", "yank"],
  ["\x07", "editElsewhere"],
  ["\x0f", "toolDetails"],
  ["\x14", "transcript"],
  ["\x0c", "reprint"],
  ["\x1a", "suspend"],
  ["\x1b[D", "left"],
  ["\x02", "left"],
  ["\x1b[C", "right"],
  ["\x06", "right"],
  ["\x1b[A", "up"],
  ["\x1b[B", "down"],
  ["\x1b[5~", "pageUp"],
  ["\x1b[6~", "pageDown"],
  ["\x1b[1;5D", "wordLeft"],
  ["\x1b[1;3D", "wordLeft"],
  ["\x1bb", "wordLeft"],
  ["\x1b[1;5C", "wordRight"],
  ["\x1b[1;3C", "wordRight"],
  ["\x1bf", "wordRight"],
  ["\x1b[H", "lineStart"],
  ["\x01", "lineStart"],
  ["\x1b[F", "lineEnd"],
  ["\x05", "lineEnd"],
  ["\x1b[1;5H", "inputStart"],
  ["\x1b[1;5F", "inputEnd"],
  ["\x7f", "deleteBackward"],
  ["\b", "deleteBackward"],
  ["\x1b[127;2u", "deleteBackward"],
  ["\x1b[3~", "deleteForward"],
  ["\x17", "deleteWordBackward"],
  ["\x1b\x7f", "deleteWordBackward"],
  ["\x1b[127;5u", "deleteWordBackward"],
  ["\x1bd", "deleteWordForward"],
  ["\x1b[3;5~", "deleteWordForward"],
  ["\x0b", "killToLineEnd"],
];

const nameOf = (sent: string): string => {
  const [key, ...more] = keysOf(sent);
  if (key?.type !== "key" || more.length > 0) throw new Error(`${JSON.stringify(sent)} is no one key`);
  return key.name;
};

describe("presets", () => {
  const rows = table.map(([sent, standard, seed = standard]) => ({ sent, standard, seed }));

  test.each(rows)("$sent does $standard, $seed", ({ sent, standard, seed }) => {
    expect(keymapOf("standard")[nameOf(sent)]).toBe(standard);
    expect(keymapOf("seed")[nameOf(sent)]).toBe(seed);
  });

  test("have no key that is not in this table", () => {
    const named = [...new Set(table.map(([sent]) => nameOf(sent)))].sort();
    expect(Object.keys(keymaps.standard).sort()).toEqual(named);
    expect(Object.keys(keymaps.seed).sort()).toEqual(named);
  });

  test("reach every action but those that only one's own keys have", () => {
    const reached = new Set<string>(Object.values(keymaps).flatMap((keymap) => Object.values(keymap)));
    expect(Object.keys(actions).filter((action) => !reached.has(action))).toEqual(["quit", "searchHistory", "nothing"]);
  });
});

describe("keys of one's own", () => {
  test.each<[string, Record<string, string>, RegExp]>([
    ["emacs", {}, /^there is no keymap emacs; there are standard, seed$/],
    ["toString", {}, /no keymap toString/],
    ["standard", { "ctrl+entr": "send" }, /^there is no key ctrl\+entr; keys are written such as ctrl\+x, /],
    ["standard", { "hyper+x": "send" }, /^there is no key hyper\+x;/],
    ["standard", { "": "send" }, /^there is no key "";/],
    ["standard", { "ctrl+\u001B": "send" }, /^there is no key "ctrl\+\\u001b";/],
    ["standard", { x: "send" }, /^the key x types a character; press ctrl or alt with it/],
    ["standard", { X: "send" }, /^the key X types a character;/],
    ["standard", { space: "send" }, /^the key space types a character;/],
    ["standard", { "ctrl+s": "send" }, /^terminals keep ctrl\+s for themselves/],
    ["standard", { "Ctrl+Q": "send" }, /^terminals keep ctrl\+q for themselves/],
    ["standard", { "ctrl+h": "send" }, /^terminals can't tell ctrl\+h from backspace; choose another key$/],
    ["standard", { "ctrl+i": "send" }, /^terminals can't tell ctrl\+i from tab;/],
    ["standard", { "ctrl+m": "send" }, /^terminals can't tell ctrl\+m from enter;/],
    ["standard", { "ctrl+[": "send" }, /^terminals can't tell ctrl\+\[ from escape;/],
    ["standard", { "ctrl+x": "explode" }, /^the key ctrl\+x can't do explode; there are send, completeOrQueue, /],
    ["standard", { "ctrl+x": "toString" }, /can't do toString/],
  ])("that are wrong are refused in words: %s, %j", (preset, keys, words) => {
    expect(() => keymapOf(preset, keys)).toThrow(words);
  });
});
