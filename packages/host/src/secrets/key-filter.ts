import { type KeyPieces, keyWalk, type KeyWalk } from "./key-walk.ts";

/** Removes keys from texts that are whole or arrive in pieces. */
export interface KeyFilter {
  /**
   * Returns the text without the keys. If the text ends in the first characters of a key, six or more, these are
   * replaced by the mark.
   */
  readonly text: (text: string) => string;
  /**
   * Returns the JSON value without the keys: in its texts, in the names of its members, and across several of its texts
   * if a key is split over them. Returns the value itself if it has none.
   */
  readonly json: <A>(value: A) => A;
  /** Makes a walk for texts that follow one another, so that a key may be split over several of them. */
  readonly walk: () => KeyWalk;
}

/** The text that replaces a secret. */
export const redactionMark = "[redacted]";

/** A shorter key is a placeholder for a local server ("x"); removing it would damage any text. */
const keyLengthMin = 8;

/** Makes a filter of these keys. Keys of fewer than eight characters are not removed. */
export const keyFilter = (given: readonly string[]): KeyFilter => {
  // The longest first, so that a key is not mistaken for a shorter one that it starts with.
  const keys = [...new Set(given)].filter(({ length }) => length >= keyLengthMin).sort((a, b) => b.length - a.length);
  if (keys.length === 0) return { text: same, json: same, walk: () => ({ text: same, pieces: () => unchanged }) };
  const walk = keyWalk(keys, redactionMark);
  const legible = (text: string): string => withoutHidingEscapes(text, keys);
  const text = (whole: string): string => walk().text(legible(whole));
  return {
    text,
    // The value has the same shape; only its texts differ.
    json: <A>(value: A) => {
      const { text: next } = walk();
      return mapTexts(value, (whole) => next(legible(whole)), text) as A;
    },
    walk,
  };
};

/**
 * Unescapes a JSON text that hides a key. JSON may write any character as an escape, and some servers do so with `/`
 * and `+`; a parser of such a text would get the key. If a key appears, the text is returned without unnecessary
 * escapes; otherwise unchanged.
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

/** Changes each text at its place. Names of members, and the texts that name a kind, are changed one by one. */
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

/** Checked alone: a part whose `type` lost its first letter to a key at the end of another text would be invalid. */
const kinds: ReadonlySet<string> = new Set(["type", "kind"]);
