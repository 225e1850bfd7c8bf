import { parseJson } from "./loose-json.ts";

/**
 * The arguments of one tool call, as they grow. They are one JSON object. Gateways send `{}` before the real object (the
 * `input: {}` of Anthropic's `content_block_start`), repeat the object at the end, or send a new one with each piece: an
 * object that follows another replaces it, unless it is empty. Any other text stays as it came.
 */
export class CallArguments {
  #text = "";
  #held = "";
  #isShown = false;

  /** Takes the next piece. Returns what of it can be shown: `{}` may yet be replaced, and nothing is shown twice. */
  add(piece: string): string {
    if (beginsObject(piece) && this.isWhole()) {
      this.#isShown = !this.isEmpty();
      this.#held = "";
    }
    this.#text += piece;
    if (this.#isShown) return "";
    this.#held += piece;
    return /^\s*(\{\s*\}\s*)*\{?\s*$/.test(this.#text) ? "" : this.rest();
  }

  /** Returns what was held back, once the reply says that it is complete. */
  rest(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }

  /** Whether nothing came but empty objects. */
  isEmpty(): boolean {
    return /^\s*(\{\s*\}\s*)*$/.test(this.#text);
  }

  isWhole(): boolean {
    return this.#text.trimEnd().endsWith("}") && parseJson(this.text()) !== undefined;
  }

  text(): string {
    return lastObject(this.#text);
  }
}

export const beginsObject = (text: string): boolean => /^\s*\{/.test(text);

const isEmptyObject = (text: string): boolean => /^\s*\{\s*\}\s*$/.test(text);

/** The last object of a row that is not empty. */
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
