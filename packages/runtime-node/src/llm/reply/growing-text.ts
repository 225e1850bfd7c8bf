import type { JsonObject } from "@colloquy/machine";
import { isObject, parseJson } from "../json/loose-json.ts";

/**
 * A text that comes in pieces. Some servers send cumulative ones (DashScope: QwenLM/qwen-code pull request 3896): each has all of
 * the text so far. The second piece can't show that alone, since a piece may begin like the one before ("a", "and"). So if it
 * begins with the first, it is held back. If the third begins with the second too, the pieces are cumulative.
 */
export class GrowingText {
  text = "";
  /** The number of pieces that are not empty. */
  pieces = 0;
  /** The second piece, while it may be cumulative. */
  #held = "";
  #isCumulative = false;

  /** Adds a piece. Returns the new text that can be shown. */
  add(piece: string): string {
    if (piece === "") return "";
    this.pieces += 1;
    const held = this.#held;
    const shown = this.text.slice(0, this.text.length - held.length);
    this.#held = "";
    this.#isCumulative ||= held !== "" && continues(held, piece);
    if (this.#isCumulative && piece.startsWith(shown)) {
      this.text = piece;
      return piece.slice(shown.length);
    }
    if (this.pieces === 2 && continues(shown, piece)) this.#held = piece;
    this.text += piece;
    return this.#held === "" ? held + piece : "";
  }

  /** Returns the text that was held back: no third piece decides. */
  rest(): string {
    const held = this.#held;
    const shown = this.text.slice(0, this.text.length - held.length);
    this.#held = "";
    // A second piece that repeats a word of four letters or more hardly does so by chance.
    this.#isCumulative ||= held !== "" && /\p{L}{4}/u.test(shown);
    if (held === "" || !this.#isCumulative) return held;
    this.text = held;
    return held.slice(shown.length);
  }
}

const continues = (text: string, piece: string): boolean => piece.length > text.length && piece.startsWith(text);

export const argumentsOf = (value: JsonObject[string]): string => {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
};

/** Returns the arguments of a call that came in one piece. */
export const oneObject = (value: JsonObject[string]): string => {
  const given = new CallArguments();
  given.add(argumentsOf(value));
  return given.text();
};

/**
 * The growing arguments of one tool call: one JSON object. Gateways send `{}`, `null` or `""` before the real object (the
 * `input: {}` of Anthropic's `content_block_start`), repeat the object at the end, or send a new one with each piece: a later
 * object replaces an earlier one, unless it is empty. Some repeat with each piece all that came before, or encode the object
 * twice. Any other text stays as it came.
 */
export class CallArguments {
  // A text that pieces were added to is copied whole when it is looked at, so each piece looks at as little as it can.
  #text = "";
  /** The last piece, if it repeats all that came before. */
  #repeat = "";
  #shown = "";
  #isReplaced = false;
  /** The last character that is not white space. */
  #end = "";
  /** Nothing came but empty values, and perhaps the beginning of another. */
  #mayBeEmpty = true;
  #isQuoted = false;

  /** Takes the next piece. Returns the new text that can be shown: text that may yet be replaced is held back. */
  add(piece: string): string {
    if (beginsObject(piece) && this.isEmpty()) this.#clear();
    this.#isReplaced ||= beginsObject(piece) && this.isWhole();
    const before = this.#repeat || this.#text;
    this.#repeat = before !== "" && piece.startsWith(before) ? piece : "";
    const isAllShown = this.#shown.length === this.#text.length;
    this.#text += piece;
    this.#end = piece.trimEnd().at(-1) ?? this.#end;
    if (this.#mayBeEmpty) this.#look();
    if (this.#isReplaced || this.#repeat !== "" || this.#isQuoted || this.isEmpty() || this.#isBrace()) return "";
    const rest = isAllShown ? piece : this.#text.slice(this.#shown.length);
    this.#shown = this.#text;
    return rest;
  }

  /** Returns the text that was held back. */
  rest(): string {
    const text = this.text();
    const rest = text.startsWith(this.#shown) ? text.slice(this.#shown.length) : "";
    this.#shown += rest;
    return rest;
  }

  /** Whether nothing came but empty values. */
  isEmpty(): boolean {
    return this.#mayBeEmpty && /^\s*((\{\s*\}|null|"")\s*)*$/.test(this.#text);
  }

  isWhole(): boolean {
    return this.#end === "}" && parseJson(lastObject(this.#text)) !== undefined;
  }

  text(): string {
    const text = lastObject(this.#text);
    const value = parseJson(text);
    if (typeof value === "string" && isObject(parseJson(value))) return value;
    return value === undefined && parseJson(this.#repeat) !== undefined ? this.#repeat : text;
  }

  #clear(): void {
    this.#text = this.#shown = this.#end = "";
    this.#mayBeEmpty = true;
    this.#isQuoted = false;
  }

  #look(): void {
    this.#mayBeEmpty = /^\s*((\{\s*\}|null|"")\s*)*(\{\s*|n|nu|nul|")?$/.test(this.#text);
    this.#isQuoted = /^\s*"/.test(this.#text);
  }

  /** Whether there is nothing but the beginning of an object. */
  #isBrace(): boolean {
    return this.#mayBeEmpty && /^\s*\{\s*$/.test(this.#text);
  }
}

export const beginsObject = (text: string): boolean => /^\s*\{/.test(text);

const isEmptyObject = (text: string): boolean => /^\s*\{\s*\}\s*$/.test(text);

/** Returns the last object of a row that is not empty. */
const lastObject = (text: string): string => {
  let whole = "";
  let from = 0;
  for (const { 0: border, index } of text.matchAll(/\}\s*(?=\{)/g)) {
    const object = text.slice(from, index + border.length);
    // The same characters may be part of a string.
    if (parseJson(object) === undefined) continue;
    if (whole === "" || !isEmptyObject(object)) whole = object.trim();
    from += object.length;
  }
  const last = text.slice(from);
  if (whole === "") return text;
  if (isEmptyObject(last)) return whole;
  if (isEmptyObject(whole) || parseJson(last) !== undefined) return last;
  return whole.startsWith(last) ? whole : text;
};
