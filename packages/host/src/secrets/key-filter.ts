import { type KeyPieces, keyWalk, type KeyWalk } from "./key-walk.ts";

/** Takes keys out of texts, of which each is whole or comes in pieces. */
export interface KeyFilter {
  /** The text without the keys. A text that ends in the beginning of a key, from six characters on, ends in the mark. */
  readonly text: (text: string) => string;
  /**
   * The JSON value without the keys: in its texts, in the names of its members, and where a key is cut over several of
   * its texts. The value itself where it holds none.
   */
  readonly json: <A>(value: A) => A;
  /** For texts that stand one behind another, so that a key may be cut over several of them. */
  readonly walk: () => KeyWalk;
}

/** What stands in the place of a secret. */
export const redactionMark = "[redacted]";

/** A key as short as this is a placeholder for a local server ("x"), and taking it out would spoil any text. */
const keyLengthMin = 8;

/** Makes a filter of these keys; those that are shorter than eight characters are left in. */
export const keyFilter = (given: readonly string[]): KeyFilter => {
  // The longest first, lest a key be taken for another that it begins with.
  const keys = [...new Set(given)].filter(({ length }) => length >= keyLengthMin).sort((a, b) => b.length - a.length);
  if (keys.length === 0) return { text: same, json: same, walk: () => ({ text: same, pieces: () => unchanged }) };
  const walk = keyWalk(keys, redactionMark);
  const legible = (text: string): string => withoutHidingEscapes(text, keys);
  const text = (whole: string): string => walk().text(legible(whole));
  return {
    text,
    // A value of the same shape: only texts in it are other ones.
    json: <A>(value: A) => {
      const { text: next } = walk();
      return mapTexts(value, (whole) => next(legible(whole)), text) as A;
    },
    walk,
  };
};

/**
 * JSON may write any character as an escape, and some servers do so with `/` and `+`: a parser of such a text would have the
 * key. Where one shows behind escapes, the text is written without those that it does not need; else it stays as it is.
 */
const withoutHidingEscapes = (text: string, keys: readonly string[]): string => {
  if (!text.includes("\\") || !/^\s*[{[]/.test(text)) return text;
  const written = text.replaceAll(/\\(?:u([0-9a-f]{4})|.)/gi, (escape: string, code: string | undefined) => {
    const character = code === undefined ? escape.slice(1) : String.fromCharCode(Number.parseInt(code, 16));
    const needsNone = code === undefined ? character === "/" : /[ !#-[\]-~]/.test(character);
    return needsNone ? character : escape;
  });
  return keys.some((key) => written.includes(key)) ? written : text;
};

const same = <A>(value: A): A => value;

const unchanged: KeyPieces = { push: same, end: () => "" };

/** Changes each text where it stands, and the names of members and what names kinds by themselves. */
const mapTexts = (value: unknown, change: (text: string) => string, changeName: (text: string) => string): unknown => {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => mapTexts(item, change, changeName));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const before = Object.entries(value);
  const after = before.map(
    ([name, member]) =>
      [changeName(name), mapTexts(member, kinds.has(name) ? changeName : change, changeName)] as const,
  );
  const isSame = after.every(([name, member], index) => name === before[index]?.[0] && member === before[index][1]);
  return isSame ? value : Object.fromEntries(after);
};

/** A part whose `type` lost its first letter to a key that another text ends in would be none. */
const kinds: ReadonlySet<string> = new Set(["type", "kind"]);
