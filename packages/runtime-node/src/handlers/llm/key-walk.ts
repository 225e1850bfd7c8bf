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
  const scanner = keyScanner(keys, mark);
  const beginnings = beginningsOf(keys);
  const tailLength = (keys[0]?.length ?? 0) - 1;
  const mayBeJson = keys.every((key) => !key.includes('"'));
  return () => {
    /** How keys go on that were begun, with how much of them there was. */
    const begun = new Map<string, number>();
    /** Of these more has come since their ends were looked at. */
    const grown = new Set<Segment>();
    const note = (segment: Segment): void => {
      grown.delete(segment);
      for (const rest of segment.rests)
        if (rest.length > segment.head.length)
          begun.set(rest.slice(segment.head.length), (begun.get(rest) ?? 0) + segment.head.length);
      for (const { text, rest } of beginnings.get(segment.tail.at(-1) ?? "") ?? [])
        if (segment.tail.endsWith(text)) begun.set(rest, text.length);
    };
    const push = (segment: Segment, piece: string): string => {
      if (piece === "") return "";
      if (segment.tail === "") {
        grown.forEach(note);
        segment.rests = [...begun.keys()];
      }
      grown.add(segment);
      segment.tail = (segment.tail + piece).slice(-tailLength);
      segment.head += segment.rests.length > 0 ? piece : "";
      segment.rests = segment.rests.filter((rest) => rest.startsWith(segment.head) || segment.head.startsWith(rest));
      const { rests, head } = segment;
      // It may go on with a key, or go on further.
      if (rests.some((rest) => rest.length > head.length)) return "";
      segment.head = "";
      segment.rests = [];
      return ended(segment, rests, head === "" ? piece : head);
    };
    /** What has come without the rest of a key that it begins with, if it does. */
    const ended = (segment: Segment, rests: readonly string[], text: string): string => {
      const length = Math.max(0, ...rests.filter((rest) => rest.length <= text.length).map((rest) => rest.length));
      return (length > 0 ? mark : "") + scan(segment, text.slice(length));
    };
    const scan = (segment: Segment, text: string): string => {
      const { safe, open } = scanner(segment.open + text);
      segment.open = open;
      return safe;
    };
    const end = (segment: Segment): string => {
      note(segment);
      const { rests, head } = segment;
      const going = rests.filter((rest) => rest.length > head.length);
      if (rests.length === going.length && going.some((rest) => (begun.get(rest) ?? 0) + head.length >= openLengthMin))
        return mark;
      const shown = ended(segment, rests, head);
      return shown + (isPiece(keys, segment) ? mark : segment.open);
    };
    const pieces = (): KeyPieces => {
      let segment = newSegment();
      let isJson: boolean | null = null;
      return {
        push: (piece) => {
          isJson ??= piece.trim() === "" ? null : mayBeJson && piece.trimStart().startsWith("{");
          if (isJson !== true) return push(segment, piece);
          const [first = "", ...others] = piece.split('"');
          let shown = push(segment, first);
          for (const other of others) {
            shown += `${end(segment)}"`;
            segment = newSegment(true);
            shown += push(segment, other);
          }
          return shown;
        },
        end: () => end(segment),
      };
    };
    const text = (whole: string): string => {
      const { push: show, end: close } = pieces();
      return show(whole) + close();
    };
    return { text, pieces };
  };
};

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
