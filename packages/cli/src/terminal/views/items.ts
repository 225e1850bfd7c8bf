import type { Line, Span } from "../text/line.ts";
import { cutLine, lineWidth } from "../text/wrap.ts";

/** The content to scroll through, of any length: an item is laid out when it becomes visible. */
export interface Items {
  readonly count: number;
  /** At least one line. Wider ones are cut. */
  readonly lines: (index: number, columns: number) => readonly Line[];
  /** Returns the text for a search. */
  readonly text: (index: number) => string;
}

/** A line of an item; a place that does not exist means the nearest one. */
export interface Place {
  readonly item: number;
  readonly line: number;
}

/** The end, wherever it is. */
export const atEnd: Place = { item: Infinity, line: Infinity };

export interface Seen {
  readonly place: Place;
  readonly line: Line;
}

export const itemsOf = <Item>(
  items: readonly Item[],
  line: (item: Item, columns: number) => Line,
  text: (item: Item) => string,
): Items => ({
  count: items.length,
  lines: (index, columns) => items.slice(index, index + 1).map((item) => line(item, columns)),
  text: (index) =>
    items
      .slice(index, index + 1)
      .map(text)
      .join(""),
});

/** Returns the visible lines from a place on; fills the window as far as possible. */
export const sightFrom = (items: Items, columns: number, rows: number, from: Place): readonly Seen[] => {
  const below = linesFrom(items, columns, from, 1, rows);
  const [first] = below;
  if (first === undefined || below.length === rows) return below;
  const above = linesFrom(items, columns, first.place, -1, rows - below.length + 1).slice(1);
  return [...above.reverse(), ...below];
};

/** Returns the place that is `by` lines further, or further back if negative, within the limits. */
export const movedBy = (items: Items, columns: number, place: Place, by: number): Place =>
  linesFrom(items, columns, place, by < 0 ? -1 : 1, Math.abs(by) + 1).at(-1)?.place ?? place;

/** Returns the top that makes a selected item visible, as near to the present top as possible. */
export const topShowing = (items: Items, columns: number, rows: number, top: Place, selected: number): Place => {
  const first = { item: selected, line: 0 };
  const lowest = movedBy(items, columns, { item: selected, line: Infinity }, 1 - rows);
  if (isBehind(lowest, first) || isBehind(top, first)) return first;
  return isBehind(lowest, top) ? lowest : top;
};

const isBehind = (one: Place, other: Place): boolean =>
  one.item > other.item || (one.item === other.item && one.line > other.line);

/** Returns up to `count` lines from a place on, forwards (1) or backwards (-1). */
const linesFrom = (items: Items, columns: number, from: Place, by: 1 | -1, count: number): Seen[] => {
  const seen: Seen[] = [];
  const first = Math.min(from.item, items.count - 1);
  for (let item = first; item >= 0 && item < items.count && seen.length < count; item += by) {
    const lines = items.lines(item, columns);
    const begin = item === first ? Math.min(from.line, lines.length - 1) : by === 1 ? 0 : lines.length - 1;
    for (let row = begin; row >= 0 && row < lines.length && seen.length < count; row += by)
      seen.push({ place: { item, line: row }, line: lines[row] ?? [] });
  }
  return seen;
};

/**
 * Returns words followed by as many marks as there is room for, the most important first. Some of the words always
 * stay.
 */
export const rowOf = (before: Line, words: Span, marks: readonly Line[], width: number): Line => {
  const behind: Span[] = [];
  // Combining marks and joined emoji take many units and few cells.
  const near = { ...words, text: words.text.slice(0, (width + 1) * 16) };
  const least = lineWidth(before) + Math.min(lineWidth([near]), leastWords, Math.floor(width / 3));
  for (const mark of marks) {
    if (least + lineWidth(behind) + lineWidth(mark) + separator.length <= width)
      behind.push({ text: separator, roles: [] }, ...mark);
  }
  return [...before, ...cutLine([near], width - lineWidth(before) - lineWidth(behind)), ...behind];
};

const separator = "  ";
const leastWords = 20;
