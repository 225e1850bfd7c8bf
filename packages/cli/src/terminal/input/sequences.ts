import { type Modifier, nameOf, type Key } from "./key.ts";

/** The keys at a place of the input, and the end of their text. `isCutOff`: the next chunk may continue it. */
interface Found {
  readonly keys: readonly Key[];
  readonly end: number;
  readonly isCutOff: boolean;
}

/** Reads one run of text, control character or sequence. */
export const keyAt = (text: string, at: number): Found => {
  const found = (keys: readonly Key[], length: number, isCutOff = false): Found => ({
    keys,
    end: at + length,
    isCutOff,
  });
  const run = matchAt(printable, text, at);
  if (run !== "") return found([{ type: "text", text: run.toWellFormed() }], run.length);
  if (text[at] !== escape) return found(keysOfCharacter(text.charAt(at), []), 1);
  // Not an Alt sequence.
  if (text.startsWith(`${escape}${escape}[200~`, at)) return found(keysOfCutOff(escape), 1);
  const sequence = matchAt(whole, text, at);
  if (sequence !== "") return found(keysOfSequence(sequence.slice(1)), sequence.length);
  const begun = matchAt(beginning, text, at);
  return found(keysOfCutOff(begun), begun.length, at + begun.length === text.length);
};

/** Returns the keys of an incomplete sequence: Escape itself, or a key with Alt. */
export const keysOfCutOff = (begun: string): readonly Key[] => {
  const [first, second, ...more] = Array.from(begun).filter((character) => character.isWellFormed());
  if (first === undefined) return [];
  if (second === undefined) return [escapeKey];
  if (second === escape) return [escapeKey, ...keysOfCutOff(begun.slice(1))];
  return more.length > 0 ? [] : keysOfCharacter(second, ["alt"]);
};

const escape = "\x1b";
const escapeKey: Key = { type: "key", name: "escape" };

const printable = /\P{Cc}+/uy;
// Some terminals send a second escape for Alt before control sequences and single shifts. The first two forms of
// control sequences are those of Linux consoles and of mice.
const whole = new RegExp(
  String.raw`${escape}(?:${escape}?(?:\[(?:\[\P{Cc}|M\P{Cc}{3}|(?![[M])[0-?]*[ -/]*[@-~])|O[\d;]*[A-Za-z])|[\]P_^X]\P{Cc}*(?:\x07|${escape}\\)|[^${escape}[O\]P_^X])`,
  "uy",
);
const beginning = new RegExp(
  String.raw`${escape}(?:${escape}?(?:\[(?:\[|M\P{Cc}{0,2}|[0-?]*[ -/]*)|O[\d;]*)|[\]P_^X]\P{Cc}*(?:${escape}$)?|${escape})?`,
  "uy",
);

const matchAt = (pattern: RegExp, text: string, at: number): string => {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
};

const keysOfSequence = (sequence: string): readonly Key[] => {
  const alt: readonly Modifier[] = sequence.startsWith(escape) ? ["alt"] : [];
  const found = /^([[O])([\d;:]*)([A-Za-z~])$/.exec(sequence.slice(alt.length));
  if (found === null) return introducers.has(sequence.charAt(alt.length)) ? [] : keysOfCharacter(sequence, ["alt"]);
  const [, introducer = "", parameters = "", final = ""] = found;
  const [first = [], second = [], third = []] = parameters.split(";").map((field) => field.split(":").map(Number));
  if (introducer === "O") return keysOfLetter(final, [...modifiersOf(first[0]), ...alt]);
  if (second[1] === released) return [];
  const modifiers = [...modifiersOf(second[0]), ...alt];
  const [code = 0, shifted = 0] = first;
  if (final === "u") return keysOfCode(code, modifiers, third.length > 0 ? third : [shifted]);
  // The format of xterm's modifyOtherKeys.
  if (final === "~") return code === 27 ? keysOfCode(third[0] ?? 0, modifiers) : keysOfNumber(code, modifiers);
  // With numbers, it is the reply to a request for the cursor's position.
  return final === "R" && parameters !== "" ? [] : keysOfLetter(final, modifiers);
};

const introducers: ReadonlySet<string> = new Set("[O]P_^X");

/** Kitty's event type for a released key. */
const released = 3;

/** Returns the keys of a character that is not a text by itself, or was sent with Alt. */
const keysOfCharacter = (character: string, modifiers: readonly Modifier[]): readonly Key[] => {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0) return keysOfCode(32, [...modifiers, "ctrl"]);
  if (code < 32) return keysOfCode(code + (code < 27 ? 96 : 64), [...modifiers, "ctrl"]);
  return keysOfCode(code, modifiers);
};

/** Returns a key by the code of its character, as kitty and xterm send it; `typed` has the codes of the typed text. */
const keysOfCode = (code: number, modifiers: readonly Modifier[], typed: readonly number[] = []): readonly Key[] => {
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

const keysOfNumber = (number: number, modifiers: readonly Modifier[]): readonly Key[] =>
  keysNamed(namesByNumber[number], modifiers);

/** Returns the keys of `CSI A`, or of a single shift such as `SS3 A`. */
const keysOfLetter = (letter: string, modifiers: readonly Modifier[]): readonly Key[] => {
  if (letter === "Z") return keysNamed("tab", [...modifiers, "shift"]);
  return keysNamed(namesByLetter.get(letter), modifiers);
};

/**
 * Returns the modifiers of the number that terminals send: one more than the sum of 1, 2, 4 and 8. Locks use higher
 * bits.
 */
const modifiersOf = (sent: number | undefined): readonly Modifier[] =>
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
