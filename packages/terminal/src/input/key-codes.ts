import type { Key } from "./key.ts";
import { type Modifier, nameOf } from "./key-name.ts";

/** The keys of one character that is no text by itself, or was sent with Alt. */
export const keysOfCharacter = (character: string, modifiers: readonly Modifier[]): readonly Key[] => {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0) return keysOfCode(32, [...modifiers, "ctrl"]);
  if (code < 32) return keysOfCode(code + (code < 27 ? 96 : 64), [...modifiers, "ctrl"]);
  return keysOfCode(code, modifiers);
};

/** A key by the code of its character, as kitty and xterm send it; `typed`: the codes of what it types. */
export const keysOfCode = (
  code: number,
  modifiers: readonly Modifier[],
  typed: readonly number[] = [],
): readonly Key[] => {
  if (code > lastCode) return [];
  const key = namesByCode[code] ?? keypad[code - keypadFrom] ?? String.fromCodePoint(code);
  if (key.length > 2) return keysNamed(key, modifiers);
  const types = modifiers.every((modifier) => modifier === "shift");
  const text = String.fromCodePoint(...typed.filter((each) => each > 0 && each <= lastCode));
  if (types && text !== "" && !untypable.test(text)) return textOf(text);
  // Keys of kitty that have no character, such as Shift alone, have private ones.
  if (untypable.test(key)) return [];
  if (types) return textOf(modifiers.length > 0 ? key.toUpperCase() : key);
  return keysNamed(key, modifiers);
};

/** `CSI 3 ~`. */
export const keysOfNumber = (number: number, modifiers: readonly Modifier[]): readonly Key[] =>
  keysNamed(namesByNumber[number], modifiers);

/** `CSI A`; of single shifts with an `O` before it: `OA`. */
export const keysOfLetter = (letters: string, modifiers: readonly Modifier[]): readonly Key[] => {
  if (letters === "Z") return keysNamed("tab", [...modifiers, "shift"]);
  const typed = letters.length === 2 ? keypadText["jklmnopqrstuvwxyX".indexOf(letters.charAt(1))] : undefined;
  return typed === undefined ? keysNamed(namesByLetter[letters.slice(-1)], modifiers) : textOf(typed);
};

/** The modifiers of the number that terminals send: one more than the sum of 1, 2, 4 and 8. What locks add is above. */
export const modifiersOf = (sent: number | undefined): readonly Modifier[] =>
  (["shift", "alt", "ctrl", "super"] as const).filter((_, index) => (Math.max((sent ?? 1) - 1, 0) >> index) % 2 === 1);

const textOf = (text: string): readonly Key[] => [{ type: "text", text }];

const keysNamed = (name: string | undefined, modifiers: readonly Modifier[]): readonly Key[] =>
  name === undefined ? [] : [{ type: "key", name: nameOf(name, modifiers) }];

const untypable = /[\p{Cc}\p{Cs}\p{Co}]/u;
const lastCode = 0x10_ff_ff;

const namesByCode: Readonly<Record<number, string>> = {
  8: "backspace",
  9: "tab",
  13: "enter",
  27: "escape",
  127: "backspace",
};

const keypadFrom = 57_399;
const keypad = [
  ...Array.from("0123456789./*-+"),
  "enter",
  "=",
  ",",
  "left",
  "right",
  "up",
  "down",
  "pageup",
  "pagedown",
  "home",
  "end",
  "insert",
  "delete",
];
const keypadText = "*+,-./0123456789=";

const namesByNumber: Readonly<Record<number, string>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  11: "f1",
  12: "f2",
  13: "f3",
  14: "f4",
  15: "f5",
  17: "f6",
  18: "f7",
  19: "f8",
  20: "f9",
  21: "f10",
  23: "f11",
  24: "f12",
};

const namesByLetter: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  M: "enter",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
};
