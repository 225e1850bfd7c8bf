/**
 * The texts of one reply in order. Any of them may hold a key or a piece of one. A key may start at the end of one
 * text, continue over whole texts, and end at the start of another. The strings in a JSON text count as texts of their
 * own.
 */
export interface KeyWalk {
  /** Returns the next text without keys and pieces of keys. */
  readonly text: (text: string) => string;
  /** Does the same for a text that arrives in pieces. Its place in the order is that of its first piece. */
  readonly pieces: () => KeyPieces;
}

/** One text in pieces. Together the results equal those of `text` for the whole. */
export interface KeyPieces {
  /** Returns the part that can be shown by now: everything that cannot belong to a key. */
  readonly push: (piece: string) => string;
  /** Returns the part that was held back. No more pieces may follow. */
  readonly end: () => string;
}

/**
 * Makes walks over texts. Up to five first characters of a key may be the end of any text, and are shown. From six on
 * they are hidden, and so is any text that continues a key from an earlier one. Within JSON they are hidden from
 * sixteen characters on, or from half of the key: a tool may be asked to search for the prefix of a provider's keys.
 *
 * @param keys at least one, the longest first.
 */
export const keyWalk = (keys: readonly string[], mark: string): (() => KeyWalk) => {
  const setting: Setting = {
    keys,
    mark,
    scan: keyScanner(keys, mark),
    beginnings: beginningsOf(keys),
    tailLength: (keys[0]?.length ?? 0) - 1,
    mayBeJson: keys.every((key) => !key.includes('"')),
  };
  return () => {
    const walk = new Walk(setting);
    const text = (whole: string): string => {
      const { push, end } = piecesOf(walk, setting.mayBeJson);
      return push(whole) + end();
    };
    return { text, pieces: () => piecesOf(walk, setting.mayBeJson) };
  };
};

interface Setting {
  readonly keys: readonly string[];
  readonly mark: string;
  readonly scan: (text: string) => { readonly safe: string; readonly open: string };
  readonly beginnings: ReadonlyMap<string, readonly Beginning[]>;
  readonly tailLength: number;
  readonly mayBeJson: boolean;
}

const piecesOf = (walk: Walk, mayBeJson: boolean): KeyPieces => {
  let segment = newSegment();
  let isJson: boolean | null = null;
  return {
    push: (piece) => {
      isJson ??= piece.trim() === "" ? null : mayBeJson && piece.trimStart().startsWith("{");
      if (isJson !== true) return walk.push(segment, piece);
      const [first = "", ...others] = piece.split('"');
      let shown = walk.push(segment, first);
      for (const other of others) {
        shown += `${walk.end(segment)}"`;
        segment = newSegment(true);
        shown += walk.push(segment, other);
      }
      return shown;
    },
    end: () => walk.end(segment),
  };
};

/** The state of a walk after the texts so far. */
class Walk {
  readonly #setting: Setting;
  /** The rest of each key that was started, with the length of its start so far. */
  readonly #begun = new Map<string, number>();
  /** Texts that have grown since their ends were read. */
  readonly #grown = new Set<Segment>();

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  push(segment: Segment, piece: string): string {
    if (piece === "") return "";
    if (segment.tail === "") {
      for (const each of this.#grown) this.#note(each);
      segment.rests = [...this.#begun.keys()];
    }
    this.#grown.add(segment);
    segment.tail = (segment.tail + piece).slice(-this.#setting.tailLength);
    segment.head += segment.rests.length > 0 ? piece : "";
    segment.rests = segment.rests.filter((rest) => rest.startsWith(segment.head) || segment.head.startsWith(rest));
    const { rests, head } = segment;
    // It may continue a key, or continue further.
    if (rests.some((rest) => rest.length > head.length)) return "";
    segment.head = "";
    segment.rests = [];
    return this.#withoutRest(segment, rests, head === "" ? piece : head);
  }

  end(segment: Segment): string {
    this.#note(segment);
    const { rests, head } = segment;
    const { keys, mark } = this.#setting;
    const going = rests.filter((rest) => rest.length > head.length);
    const isGoing = rests.length === going.length;
    if (isGoing && going.some((rest) => (this.#begun.get(rest) ?? 0) + head.length >= openLengthMin)) return mark;
    const shown = this.#withoutRest(segment, rests, head);
    return shown + (isPiece(keys, segment) ? mark : segment.open);
  }

  /** Records the keys that a text starts, or continues. */
  #note(segment: Segment): void {
    const { rests, head, tail } = segment;
    this.#grown.delete(segment);
    for (const rest of rests)
      if (rest.length > head.length)
        this.#begun.set(rest.slice(head.length), (this.#begun.get(rest) ?? 0) + head.length);
    for (const { text, rest } of this.#setting.beginnings.get(tail.at(-1) ?? "") ?? [])
      if (tail.endsWith(text)) this.#begun.set(rest, text.length);
  }

  /** Returns the start of a text, without the rest of a key if it starts with one. */
  #withoutRest(segment: Segment, rests: readonly string[], text: string): string {
    const length = Math.max(0, ...rests.map((rest) => (rest.length > text.length ? 0 : rest.length)));
    const { safe, open } = this.#setting.scan(segment.open + text.slice(length));
    segment.open = open;
    return (length > 0 ? this.#setting.mark : "") + safe;
  }
}

/** Returns whether the open end of a text is a piece of a key that must not be shown. */
const isPiece = (keys: readonly string[], { open, isInJson }: Segment): boolean =>
  open.length >= openLengthMin &&
  (!isInJson ||
    open.length >= prefixLengthMax ||
    keys.some((key) => key.startsWith(open) && open.length * 2 > key.length));

/** Fewer characters than the shortest key has, and more than many keys share. */
const openLengthMin = 6;

/** More characters than all keys of one provider share. */
const prefixLengthMax = 16;

/** A text, or a string in a JSON text. */
interface Segment {
  /** Its last characters. */
  tail: string;
  /** The rests of keys that the text may continue, wholly or in part; empty if it continues none. */
  rests: readonly string[];
  /** Its first characters, while they may be the rest of a key. */
  head: string;
  /** An end that may be the start of a key, held back. */
  open: string;
  readonly isInJson: boolean;
}

const newSegment = (isInJson = false): Segment => ({ tail: "", rests: [], head: "", open: "", isInJson });

interface Beginning {
  readonly text: string;
  readonly rest: string;
}

/** Returns each start of each key, by the last character of the start. */
const beginningsOf = (keys: readonly string[]): ReadonlyMap<string, readonly Beginning[]> => {
  const byEnd = new Map<string, Beginning[]>();
  for (const key of keys)
    for (let length = 1; length < key.length; length++) {
      const text = key.slice(0, length);
      const last = text.at(-1) ?? "";
      byEnd.set(last, [...(byEnd.get(last) ?? []), { text, rest: key.slice(length) }]);
    }
  return byEnd;
};

/** Makes a function that removes whole keys from a text, and cuts off an end that may be the start of one. */
const keyScanner = (
  keys: readonly string[],
  mark: string,
): ((text: string) => { readonly safe: string; readonly open: string }) => {
  const longest = keys[0]?.length ?? 0;
  const pattern = new RegExp(
    keys.map((key) => key.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)).join("|"),
    "g",
  );
  /** Returns the index of an end that may be the start of a key; the length of the text if there is none. */
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
      safe += text.slice(from, found.index) + mark;
      from = found.index + found[0].length;
    }
  };
};
