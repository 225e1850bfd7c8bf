/**
 * Texts of one reply in their order, of which any may hold a key, or a piece of one: the end of one text begins it, whole
 * texts may stand between, and the beginning of another ends it. The texts of a JSON text are texts of their own.
 */
export interface KeyWalk {
  /** The next text, without keys and pieces of them. */
  readonly text: (text: string) => string;
  /** The same for a text that comes in pieces. It stands behind those of which something has come before its own first piece. */
  readonly pieces: () => KeyPieces;
}

/** One text in pieces. What is given back comes to what `text` gives for the whole. */
export interface KeyPieces {
  /** What can be shown by now: all, but for what may be of a key. */
  readonly push: (piece: string) => string;
  /** What was held back. No more comes. */
  readonly end: () => string;
}

/**
 * Up to five characters that begin a key may be the end of any text, and are shown. From six on they are hidden, and so
 * is whatever goes on with a key that an earlier text began. Within JSON, where a tool may be asked to look for what all
 * keys of a provider begin with, they are hidden from sixteen on, or from half of the key.
 *
 * @param keys The longest first, and one at least.
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

/** What is known of the texts so far. */
class Walk {
  readonly #setting: Setting;
  /** How keys go on that were begun, with how much of them there was. */
  readonly #begun = new Map<string, number>();
  /** Of these more has come since their ends were looked at. */
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
    // It may go on with a key, or go on further.
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

  /** What keys it begins, or goes on with. */
  #note(segment: Segment): void {
    const { rests, head, tail } = segment;
    this.#grown.delete(segment);
    for (const rest of rests)
      if (rest.length > head.length)
        this.#begun.set(rest.slice(head.length), (this.#begun.get(rest) ?? 0) + head.length);
    for (const { text, rest } of this.#setting.beginnings.get(tail.at(-1) ?? "") ?? [])
      if (tail.endsWith(text)) this.#begun.set(rest, text.length);
  }

  /** The beginning of a text without the rest of a key, if that is what it begins with. */
  #withoutRest(segment: Segment, rests: readonly string[], text: string): string {
    const length = Math.max(0, ...rests.map((rest) => (rest.length > text.length ? 0 : rest.length)));
    const { safe, open } = this.#setting.scan(segment.open + text.slice(length));
    segment.open = open;
    return (length > 0 ? this.#setting.mark : "") + safe;
  }
}

/** Whether the open end of a text is a piece of a key, and is not to be shown. */
const isPiece = (keys: readonly string[], { open, isInJson }: Segment): boolean =>
  open.length >= openLengthMin &&
  (!isInJson ||
    open.length >= prefixLengthMax ||
    keys.some((key) => key.startsWith(open) && open.length * 2 > key.length));

/** Fewer than the shortest key has, and more than many keys have in common. */
const openLengthMin = 6;

/** More than what all keys of one provider have in common. */
const prefixLengthMax = 16;

/** A text, or one of the texts of a JSON text. */
interface Segment {
  /** Its last characters. */
  tail: string;
  /** With what it may go on with a key: one of these, or a piece of one. None where it does not. */
  rests: readonly string[];
  /** All of it that came, as long as it may. */
  head: string;
  /** An end that may be the beginning of a key, held back. */
  open: string;
  readonly isInJson: boolean;
}

const newSegment = (isInJson = false): Segment => ({ tail: "", rests: [], head: "", open: "", isInJson });

interface Beginning {
  readonly text: string;
  readonly rest: string;
}

/** What each key may begin with, by the last character of that. */
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

/** Takes whole keys out of a text, and cuts off an end that may be the beginning of one. */
const keyScanner = (
  keys: readonly string[],
  mark: string,
): ((text: string) => { readonly safe: string; readonly open: string }) => {
  const longest = keys[0]?.length ?? 0;
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
