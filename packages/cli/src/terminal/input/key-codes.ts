import type { Key } from "./key.ts";
import { type Modifier, nameOf } from "./key-name.ts";

/** Returns the keys of a character that is not a text by itself, or was sent with Alt. */
export const keysOfCharacter = (character: string, modifiers: readonly Modifier[]): readonly Key[] => {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0) return keysOfCode(32, [...modifiers, "ctrl"]);
  if (code < 32) return keysOfCode(code + (code < 27 ? 96 : 64), [...modifiers, "ctrl"]);
  return keysOfCode(code, modifiers);
};

/** Returns a key by the code of its character, as kitty and xterm send it; `typed` has the codes of the typed text. */
export const keysOfCode = (
  code: number,
  modifiers: readonly Modifier[],
  typed: readonly number[] = [],
): readonly Key[] => {
  if (code > lastCode) return [];
  const key = namesByCode.get(code) ?? keypad[code - keypadFrom] ?? String.fromCodePoint(code);
  if (key.length > 2) return keysNamed(key, modifiers);
  const types = modifiers.every((modifier) => modifier === "shift");
  const text = String.fromCodePoint(...typed.filter((each) => each > 0 && each <= lastCode));
  if (types && text !== "" && !untypable.test(text)) return textOf(text);
  // Keys of kitty without a character, such as Shift alone, have private codes.
  if (untypable.test(key)) return [];
  if (types) return textOf(modifiers.length > 0 ? key.toUpperCase() : key);
  return keysNamed(key, modifiers);
};

/** Returns the keys of `CSI 3 ~`. */
export const keysOfNumber = (number: number, modifiers: readonly Modifier[]): readonly Key[] =>
  keysNamed(namesByNumber[number], modifiers);

/** Returns the keys of `CSI A`, or of a single shift such as `SS3 A`. */
export const keysOfLetter = (letter: string, modifiers: readonly Modifier[]): readonly Key[] => {
  if (letter === "Z") return keysNamed("tab", [...modifiers, "shift"]);
  return keysNamed(namesByLetter.get(letter), modifiers);
};

/**
 * Returns the modifiers of the number that terminals send: one more than the sum of 1, 2, 4 and 8. Locks use higher
 * bits.
 */
export const modifiersOf = (sent: number | undefined): readonly Modifier[] =>
  (["shift", "alt", "ctrl", "super"] as const).filter((_, index) => (Math.max((sent ?? 1) - 1, 0) >> index) % 2 === 1);

const textOf = (text: string): readonly Key[] => [{ type: "text", text }];

const keysNamed = (name: string | undefined, modifiers: readonly Modifier[]): readonly Key[] =>
  name === undefined || name === "" ? [] : [{ type: "key", name: nameOf(name, modifiers) }];

const untypable = /[\p{Cc}\p{Cs}\p{Co}]/u;
const lastCode = 0x10_ff_ff;

const namesByCode = new Map([
  [8, "backspace"],
  [9, "tab"],
  [13, "enter"],
  [27, "escape"],
  [127, "backspace"],
]);

const wordsOf = (text: string): readonly string[] => text.split(" ");

const keypadFrom = 57_399;
const keypad = wordsOf(
  "0 1 2 3 4 5 6 7 8 9 . / * - + enter = , left right up down pageup pagedown home end insert delete",
);

// Indexed from 0; not every number has a key.
const namesByNumber = wordsOf(
  " home insert delete end pageup pagedown home end   f1 f2 f3 f4 f5  f6 f7 f8 f9 f10  f11 f12",
);

const namesByLetter = new Map(
  wordsOf("Aup Bdown Cright Dleft Fend Hhome Menter Pf1 Qf2 Rf3 Sf4").map((each) => [each.charAt(0), each.slice(1)]),
);
