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
export const mark = "[redacted]";

/** A key as short as this is a placeholder for a local server ("x"), and taking it out would spoil any text. */
const keyLengthMin = 8;

export const keyFilter = (given: readonly string[]): KeyFilter => {
  // The longest first, lest a key be taken for another that it begins with.
  const keys = [...new Set(given)].filter(({ length }) => length >= keyLengthMin).sort((a, b) => b.length - a.length);
  if (keys.length === 0) return { text: same, json: same, walk: () => ({ text: same, pieces: () => unchanged }) };
  const walk = keyWalk(keys, mark);
  const text = (whole: string): string => walk().text(whole);
  return {
    text,
    // A value of the same shape: only texts in it are other ones.
    json: <A>(value: A) => mapTexts(value, walk().text, text) as A,
    walk,
  };
};

const same = <A>(value: A): A => value;

const unchanged: KeyPieces = { push: same, end: () => "" };

/** Changes each text where it stands, and the names of members and what tells kinds apart by themselves. */
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
