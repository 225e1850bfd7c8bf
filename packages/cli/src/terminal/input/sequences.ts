import { keysOfCharacter, keysOfCode, keysOfLetter, keysOfNumber, modifiersOf } from "./key-codes.ts";
import type { Modifier } from "./key-name.ts";
import type { Key } from "./key.ts";

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

/** Parses the part after the escape. */
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
