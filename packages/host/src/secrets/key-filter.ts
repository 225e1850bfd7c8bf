/** Removes keys from texts that are whole or arrive in pieces. A key that is spread over several texts is not found. */
export interface KeyFilter {
  /** Returns the text without the keys. The first six or more characters of one at the end are removed too. */
  readonly text: (text: string) => string;
  /** Returns the JSON value without the keys in texts and names, or the value itself if it has none. */
  readonly json: <A>(value: A) => A;
  /** Does the same as `text` for a text that arrives in pieces. */
  readonly pieces: () => KeyPieces;
}

/** One text in pieces. Together the results equal those of `text` for the whole. */
export interface KeyPieces {
  /** Returns the part that can be shown by now: everything that cannot belong to a key. */
  readonly push: (piece: string) => string;
  /** Returns the part that was held back. No more pieces may follow. */
  readonly end: () => string;
}

/** The text that replaces a secret. */
export const redactionMark = "[redacted]";

/** A shorter key is a placeholder for a local server ("x"); removing it would damage any text. */
const keyLengthMin = 8;

/** Makes a filter of these keys. Keys of fewer than eight characters are not removed. */
export const keyFilter = (given: readonly string[]): KeyFilter => {
  // The longest first, so that a key is not mistaken for a shorter one that it starts with.
  const keys = [...new Set(given)].filter(({ length }) => length >= keyLengthMin).sort((a, b) => b.length - a.length);
  if (keys.length === 0) return { text: same, json: same, pieces: () => unchanged };
  const scan = keyScanner(keys);
  const text = (whole: string): string => {
    const { safe, open } = scan(withoutHidingEscapes(whole, keys));
    return safe + endOf(open);
  };
  const pieces = (): KeyPieces => {
    let held = "";
    return {
      push: (piece) => {
        const { safe, open } = scan(held + piece);
        held = open;
        return safe;
      },
      end: () => endOf(held),
    };
  };
  // The value has the same shape; only its texts differ.
  return { text, json: <A>(value: A) => mapTexts(value, text) as A, pieces };
};

const same = <A>(value: A): A => value;

const unchanged: KeyPieces = { push: same, end: () => "" };

/** Hides the start of a key at the end of a text, unless it is so short that many words end like it. */
const endOf = (open: string): string => (open.length < 6 ? open : redactionMark);

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

/** Makes a function that removes whole keys, and cuts off what may be the start of one. @param keys longest first */
const keyScanner = (keys: readonly string[]): ((text: string) => { readonly safe: string; readonly open: string }) => {
  const longest = keys[0]?.length ?? 0;
  const pattern = new RegExp(
    keys.map((key) => key.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)).join("|"),
    "g",
  );
  const openAt = (text: string, from: number): number => {
    for (let at = Math.max(from, text.length - longest + 1); at < text.length; at += 1)
      if (keys.some((key) => key.length > text.length - at && text.startsWith(key.slice(0, text.length - at), at)))
        return at;
    return text.length;
  };
  return (text) => {
    let [safe, from] = ["", 0];
    for (;;) {
      pattern.lastIndex = from;
      const found = pattern.exec(text);
      const open = openAt(text, from);
      if (found === null || open <= found.index) return { safe: safe + text.slice(from, open), open: text.slice(open) };
      safe += text.slice(from, found.index) + redactionMark;
      from = found.index + found[0].length;
    }
  };
};
