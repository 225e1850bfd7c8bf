/** Takes keys out of texts, of which each is whole or comes in pieces. */
export interface KeyFilter {
  /** The text without the keys. A text that ends in the beginning of a key, from six characters on, ends in the mark. */
  readonly text: (text: string) => string;
  /** The JSON value without the keys: in its texts, and in the names of its members. The value itself where it holds none. */
  readonly json: <A>(value: A) => A;
  /** For a text that comes in pieces. */
  readonly pieces: () => KeyPieces;
}

/** One text in pieces. What is given back comes to what `text` gives for the whole. */
export interface KeyPieces {
  /** What can be shown by now: all, but for an end that may be the beginning of a key. */
  readonly push: (piece: string) => string;
  /** What was held back. No more comes. */
  readonly end: () => string;
}

/** What stands in the place of a secret. */
export const mark = "[redacted]";

/** A key as short as this is a placeholder for a local server ("x"), and taking it out would spoil any text. */
const keyLengthMin = 8;

export const keyFilter = (given: readonly string[]): KeyFilter => {
  // The longest first, lest a key be taken for another that it begins with.
  const keys = [...new Set(given)].filter(({ length }) => length >= keyLengthMin).sort((a, b) => b.length - a.length);
  const longest = keys[0]?.length;
  if (longest === undefined) return { text: same, json: same, pieces: () => ({ push: same, end: () => "" }) };
  const pattern = new RegExp(
    keys.map((key) => key.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)).join("|"),
    "g",
  );

  /** Where an end that may be the beginning of a key begins: the length of the text for none. */
  const openAt = (text: string, from: number): number => {
    for (let at = Math.max(from, text.length - longest + 1); at < text.length; at += 1)
      if (keys.some((key) => key.length > text.length - at && text.startsWith(key.slice(0, text.length - at), at)))
        return at;
    return text.length;
  };
  const scan = (text: string): { readonly safe: string; readonly open: string } => {
    let [safe, from] = ["", 0];
    for (;;) {
      pattern.lastIndex = from;
      const found = pattern.exec(text);
      const open = openAt(text, from);
      if (found === null || open <= found.index) return { safe: safe + text.slice(from, open), open: text.slice(open) };
      safe += text.slice(from, found.index) + mark;
      from = found.index + found[0].length;
    }
  };
  const text = (whole: string): string => {
    const { safe, open } = scan(whole);
    return safe + closed(open);
  };
  return {
    text,
    // A value of the same shape: only texts in it are other ones.
    json: <A>(value: A) => mapTexts(value, text) as A,
    pieces: () => {
      let held = "";
      return {
        push: (piece) => {
          const { safe, open } = scan(held + piece);
          held = open;
          return safe;
        },
        end: () => {
          const last = closed(held);
          held = "";
          return last;
        },
      };
    },
  };
};

const same = <A>(value: A): A => value;

/** An end that may be the beginning of a key: from so many characters on it is one. */
const closed = (open: string): string => (open.length < openLengthMin ? open : mark);

/** Fewer than the shortest key has, and more than many keys have in common. */
const openLengthMin = 6;

const mapTexts = (value: unknown, change: (text: string) => string): unknown => {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => mapTexts(item, change));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const before = Object.entries(value);
  const after = before.map(([name, member]) => [change(name), mapTexts(member, change)] as const);
  const isSame = after.every(([name, member], index) => name === before[index]?.[0] && member === before[index][1]);
  return isSame ? value : Object.fromEntries(after);
};
