import type { Line } from "../text/line.ts";

/** What is scrolled through, however much it is: an item is laid out when it comes into sight. */
export interface Items {
  readonly count: number;
  /** One line at least. Wider ones are cut. */
  readonly lines: (index: number, columns: number) => readonly Line[];
  /** What a search looks at. */
  readonly text: (index: number) => string;
}

/** A line of an item. */
export interface Place {
  readonly item: number;
  readonly line: number;
}

/** Items that have one line each. */
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

/** The end, wherever it is. */
export const atEnd: Place = { item: Infinity, line: 0 };

/** What is seen of items in a window, and the place of its first line. */
export interface Sight {
  readonly top: Place;
  readonly lines: readonly { readonly place: Place; readonly line: Line }[];
}

/** What is seen from a place on: a window is filled as far as there is something. */
export const sightFrom = (items: Items, columns: number, rows: number, from: Place): Sight => {
  const sight = linesFrom(items, columns, rows, within(items, columns, from));
  if (sight.lines.length >= rows || (sight.top.item === 0 && sight.top.line === 0)) return sight;
  return linesFrom(items, columns, rows, movedBy(items, columns, lastOf(items, columns), 1 - rows));
};

/** The place so many lines further on, or further back where that is negative, as far as there are any. */
export const movedBy = (items: Items, columns: number, place: Place, by: number): Place => {
  let { item, line } = place;
  let left = by;
  for (; left < 0; line = heightOf(items, columns, item) - 1) {
    if (line + left >= 0 || item === 0) return { item, line: Math.max(line + left, 0) };
    left += line + 1;
    item -= 1;
  }
  for (; left > 0; line = 0) {
    const rest = heightOf(items, columns, item) - 1 - line;
    if (left <= rest || item + 1 >= items.count) return { item, line: line + Math.min(left, rest) };
    left -= rest + 1;
    item += 1;
  }
  return { item, line };
};

/** The top from which a selected item is seen, as near to another one as can be. */
export const topShowing = (items: Items, columns: number, rows: number, top: Place, selected: number): Place => {
  const first = { item: selected, line: 0 };
  const last = { item: selected, line: heightOf(items, columns, selected) - 1 };
  const lowest = movedBy(items, columns, last, 1 - rows);
  if (isBehind(lowest, first) || isBehind(top, first)) return first;
  return isBehind(lowest, top) ? lowest : top;
};

const isBehind = (one: Place, other: Place): boolean =>
  one.item > other.item || (one.item === other.item && one.line > other.line);

const heightOf = (items: Items, columns: number, item: number): number => items.lines(item, columns).length;

const lastOf = (items: Items, columns: number): Place => {
  const item = Math.max(items.count - 1, 0);
  return { item, line: Math.max(heightOf(items, columns, item) - 1, 0) };
};

/** After a resize an item may have fewer lines. */
const within = (items: Items, columns: number, { item, line }: Place): Place =>
  item >= items.count
    ? lastOf(items, columns)
    : { item, line: line === 0 ? 0 : Math.min(line, heightOf(items, columns, item) - 1) };

const linesFrom = (items: Items, columns: number, rows: number, top: Place): Sight => {
  const lines: { readonly place: Place; readonly line: Line }[] = [];
  for (let item = top.item; item < items.count && lines.length < rows; item++) {
    const from = item === top.item ? top.line : 0;
    items
      .lines(item, columns)
      .slice(from, from + rows - lines.length)
      .forEach((line, index) => lines.push({ place: { item, line: from + index }, line }));
  }
  return { top, lines };
};
