import type { Key } from "./key.ts";
import { keyAt, keysOfCutOff } from "./sequences.ts";

/**
 * Converts a terminal's input to keys. Chunks may be split anywhere: within a character, a sequence, the marks of a
 * paste. Unknown sequences, and replies of the terminal, are dropped and never typed.
 *
 * The law: however one input is split, it gives the same keys, once successive texts are joined, unless a flush comes
 * in between. One rule depends on chunks, because a terminal that does not mark pastes gives no other sign. A chunk in
 * which text follows a line end begins a paste, which lasts until another key, or a flush.
 */
export class KeyReader {
  /** The input that has no meaning without the next chunk. */
  #rest = "";
  #paste: { readonly pieces: string[]; readonly marked: boolean } | null = null;

  /** Returns the keys that are complete with this chunk. */
  read(chunk: string): readonly Key[] {
    const text = this.#rest + chunk;
    const half = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? "";
    this.#rest = half;
    return this.#keysOf(text.slice(0, text.length - half.length));
  }

  /** The milliseconds without a chunk after which to flush; null if there is nothing to wait for. */
  get waitMs(): number | null {
    if (this.#paste?.marked === true) return pasteWaitMs;
    return this.#paste !== null || this.#rest.startsWith("\x1b") ? sequenceWaitMs : null;
  }

  /** Ends the input: an escape was the key itself, and a paste has no more text. */
  flush(): readonly Key[] {
    const rest = this.#rest;
    this.#rest = "";
    return this.#paste === null ? keysOfCutOff(rest) : this.#endPaste(rest);
  }

  #keysOf(text: string): readonly Key[] {
    if (text === "") return [];
    const isPlain = typedOrPasted.test(text);
    if (this.#paste === null && isPlain && textBehindLineEnd.test(text)) this.#paste = { pieces: [], marked: false };
    const keys: Key[] = [];
    if (this.#paste?.marked === false) {
      if (isPlain) this.#paste.pieces.push(text);
      else keys.push(...this.#endPaste());
    }
    for (let at = this.#paste?.marked === false ? text.length : 0; at < text.length;)
      at = this.#paste === null ? this.#readKey(text, at, keys) : this.#readPaste(text, at, keys);
    return keys;
  }

  /** Reads a key. Returns the index after it, as do the functions below. */
  #readKey(text: string, at: number, keys: Key[]): number {
    if (text.startsWith(pasteStart, at)) {
      this.#paste = { pieces: [], marked: true };
      return at + pasteStart.length;
    }
    const found = keyAt(text, at);
    if (found.isCutOff) this.#rest = text.slice(at) + this.#rest;
    else keys.push(...found.keys);
    return found.end;
  }

  #readPaste(text: string, at: number, keys: Key[]): number {
    const end = text.indexOf(pasteEnd, at);
    if (end >= 0) {
      keys.push(...this.#endPaste(text.slice(at, end)));
      return end + pasteEnd.length;
    }
    // The mark may be split.
    const half = [5, 4, 3, 2, 1, 0].find((length) => text.slice(at).endsWith(pasteEnd.slice(0, length))) ?? 0;
    this.#paste?.pieces.push(text.slice(at, text.length - half));
    this.#rest = text.slice(text.length - half) + this.#rest;
    return text.length;
  }

  #endPaste(last = ""): readonly Key[] {
    const text = typeable([...(this.#paste?.pieces ?? []), last].join(""));
    this.#paste = null;
    return text === "" ? [] : [{ type: "paste", text }];
  }
}

/**
 * Converts a text from elsewhere to a typeable one: its line ends become `\n`, and other control characters except tabs
 * are removed.
 */
export const typeable = (text: string): string =>
  text
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(/(?![\t\n])\p{Cc}/gu, "")
    .toWellFormed();

const pasteStart = "\x1b[200~";
const pasteEnd = "\x1b[201~";

const typedOrPasted = /^(?:[\t\r\n]|\P{Cc})+$/u;
const textBehindLineEnd = /[\r\n][^\r\n]/;

/** Terminals send sequences whole; a slow network may split them. */
const sequenceWaitMs = 50;
/** Applies only if the end mark of a paste was lost; otherwise nothing could be typed any more. */
const pasteWaitMs = 2000;
