import { editorOf } from "../input/editor.ts";
import type { Key } from "../input/key.ts";
import { keymaps } from "../input/keymap.ts";
import { type InputFrame, layOut } from "../input/layout.ts";
import { queryAfter } from "../input/edits.ts";
import { type Line, line, type Size, textOfLine } from "../text/line.ts";
import { named } from "../text/printable.ts";
import { withMatches, graphemesOf, widthOf, cutLine, lineWidth } from "../text/wrap.ts";
import { atEnd, type Items, movedBy, type Place, type Seen, sightFrom, topShowing } from "./items.ts";
import type { View, ViewFrame, ViewStep } from "./view.ts";

/** The content and the specific functions of a scrolling view. */
export interface Scrolling {
  readonly title: string;
  /** Returns lines above the items, if there is room. */
  readonly head?: (columns: number) => readonly Line[];
  readonly items: Items;
  /** More items follow when these are seen. */
  readonly hasMore?: boolean;
  /** The text to show without items. */
  readonly empty: string;
  /** Whether one of the items is selected; otherwise the view scrolls by lines. */
  readonly selects: boolean;
  /** Descriptions of its specific keys, the most important first. */
  readonly hints: readonly string[];
  /** Returns the effect of a specific key; null for any other. */
  readonly press?: (name: string, position: Position, size: Size) => ViewStep | null;
  /** Returns the effect of a move, if it does more than change the position. */
  readonly goTo?: (position: Position) => ViewStep;
  /** A query in its title; typing edits the query instead of triggering keys. */
  readonly query?: { readonly words: string; readonly typed: (words: string) => ViewStep };
}

/** The position in the view. */
export interface Position {
  readonly top: Place;
  readonly selected: number;
  /** The words of the last `/` search; empty for none. */
  readonly words: string;
  /** The text that is being typed after `/`; null if none is. */
  readonly typing: string | null;
  /** The last match, until the position moves. */
  readonly match: Place | null;
  /** The result of the last key, shown in place of the hints. */
  readonly note: string | null;
}

/** The position at the beginning. */
export const start: Position = {
  top: { item: 0, line: 0 },
  selected: 0,
  words: "",
  typing: null,
  match: null,
  note: null,
};

/** Returns a full-screen view of a list or a text, with scrolling and search. Lays out only the visible part. */
export const scrollingView = (content: Scrolling, given: Position = start): View => {
  const position = { ...given, selected: Math.max(0, Math.min(given.selected, content.items.count - 1)) };
  return {
    title: content.title,
    show: (size) => frameOf(content, position, size),
    press: (key, size) => pressed(content, { ...position, note: null }, key, size),
  };
};

export const seen = (content: Scrolling, { top, selected }: Position, size: Size): readonly Seen[] => {
  const { items, selects } = content;
  const { columns, rows } = bodyOf(content, size);
  return sightFrom(items, columns, rows, selects ? topShowing(items, columns, rows, top, selected) : top);
};

interface Body {
  readonly columns: number;
  readonly rows: number;
  readonly head: readonly Line[];
}

/**
 * Returns the size of the body. The last column stays free, so that no terminal wraps; the first two mark the selected
 * item, also without colours.
 */
const bodyOf = ({ head, selects }: Scrolling, size: Size): Body => {
  const columns = Math.max(size.columns - 1 - (selects ? markWidth : 0), 1);
  const room = Math.max(size.rows - 2, 1);
  const above = room < leastRowsWithHead ? [] : (head?.(size.columns - 1) ?? []).slice(0, room - leastRowsBelowHead);
  return { columns, rows: room - above.length, head: above };
};

const markWidth = 2;
const leastRowsWithHead = 8;
const leastRowsBelowHead = 4;

const frameOf = (content: Scrolling, position: Position, size: Size): ViewFrame => {
  const { head, rows } = bodyOf(content, size);
  const { items, empty, selects } = content;
  const inSight = seen(content, position, size);
  const body = items.count === 0 ? [line(empty, "dim")] : inSight.map((each) => bodyLine(each, selects, position));
  const filled = Array.from({ length: rows }, (_, row): Line => body[row] ?? []);
  const title = titleOf(content, selects ? position.selected : (inSight.at(-1)?.place.item ?? 0), size.columns - 1);
  const bottom = bottomOf(content, position, size.columns - 1);
  // On a screen with one row, the position is more important than the keys.
  const above = [...title.lines, ...head, ...filled].slice(
    0,
    Math.max(size.rows - 1, position.typing === null ? 1 : 0),
  );
  const lines = size.rows > above.length ? [...above, ...bottom.lines] : above;
  const row = position.typing === null ? 0 : lines.length - 1;
  const column = Math.min((position.typing === null ? title : bottom).cursor.column, Math.max(size.columns - 2, 0));
  const types = position.typing !== null || content.query !== undefined;
  return { lines: lines.map((each) => cutLine(each, size.columns - 1)), ...(types ? { cursor: { row, column } } : {}) };
};

const bodyLine = ({ place, line: given }: Seen, selects: boolean, { selected, words }: Position): Line => {
  const shown = withMatches(given, words);
  if (!selects) return shown;
  if (place.item !== selected) return [{ text: "  ", roles: [] }, ...shown];
  const marked = [{ text: place.line === 0 ? "> " : "  ", roles: [] }, ...shown];
  return marked.map((span) => ({ ...span, roles: [...span.roles, "selected"] }));
};

const titleOf = ({ title, query, items, hasMore }: Scrolling, item: number, width: number): InputFrame => {
  const place = items.count < 2 ? "" : `${item + 1}/${items.count}${hasMore === true ? "+" : ""}`;
  const { lines, cursor } =
    query === undefined
      ? { lines: [line(title, "heading")], cursor: noCursor }
      : typedIn(query.words, `${title}: `, width);
  const left = cutLine(lines.flat(), width - 1);
  const gap = width - lineWidth(left) - widthOf(place);
  return {
    lines: [gap < 2 ? left : [...left, { text: " ".repeat(gap), roles: [] }, { text: place, roles: ["dim"] }]],
    cursor,
  };
};

const bottomOf = ({ query, hints }: Scrolling, { typing, note }: Position, width: number): InputFrame => {
  if (typing !== null) return typedIn(typing, "/", width);
  if (note !== null) return { lines: [line(note, "warning")], cursor: noCursor };
  const all = query === undefined ? ["q close", ...hints, "/ search"] : ["Esc close", ...hints];
  const fitting = all.reduce((before, hint) =>
    widthOf(`${before} · ${hint}`) <= width ? `${before} · ${hint}` : before,
  );
  return { lines: [line(fitting, "dim")], cursor: noCursor };
};

const typedIn = (words: string, prompt: string, width: number): InputFrame =>
  layOut(editorOf(words), { columns: width + 1, rows: 1 }, prompt);

const noCursor = { row: 0, column: 0 };

const pressed = (content: Scrolling, position: Position, key: Key, size: Size): ViewStep => {
  const { query } = content;
  const action = key.type === "key" ? keymaps.standard[key.name] : undefined;
  const words = queryAfter(position.typing ?? query?.words ?? "", key, action);
  if (position.typing !== null)
    return words === null
      ? searched(content, position, key, size)
      : { view: scrollingView(content, { ...position, typing: words }) };
  if (query !== undefined && words !== null) return query.typed(words);
  const [name, ...others] = key.type === "key" ? [key.name] : key.type === "text" ? graphemesOf(key.text) : [];
  if (name === undefined) return {};
  const step = content.press?.(name, position, size) ?? moved(content, position, name, size);
  if (others.length === 0 || step.view === null || step.action !== undefined || step.later !== undefined) return step;
  // Quickly typed keys may arrive together.
  const view = step.view ?? scrollingView(content, position);
  return { view, ...view.press({ type: "text", text: others.join("") }, size) };
};

const moved = (content: Scrolling, position: Position, name: string, size: Size): ViewStep => {
  if (name === "escape" || name === "q") return { view: null };
  if (name === "/" && content.items.count > 0) return { view: scrollingView(content, { ...position, typing: "" }) };
  const by = stepsOf(name, bodyOf(content, size).rows);
  if (by !== null) return goTo(content, stepped(content, position, by, size));
  if (name !== "n" && name !== "N" && name !== "shift+n") return {};
  return goTo(content, toMatch(content, position, name === "n" ? 1 : -1, size));
};

/** Returns the number of items or lines by which a key moves, for a number of visible rows; null for any other key. */
const stepsOf = (name: string, rows: number): number | null => {
  if (name === "up" || name === "k") return -1;
  if (name === "down" || name === "j") return 1;
  if (name === "pageup") return 1 - rows;
  if (name === "pagedown" || name === " " || name === "space") return rows - 1;
  if (name === "home" || name === "g") return -Infinity;
  return name === "end" || name === "G" || name === "shift+g" ? Infinity : null;
};

const goTo = (content: Scrolling, position: Position): ViewStep =>
  content.goTo?.(position) ?? { view: scrollingView(content, position) };

const stepped = (content: Scrolling, position: Position, by: number, size: Size): Position => {
  const { items, selects } = content;
  const top = seen(content, position, size)[0]?.place ?? start.top;
  const selected = Math.max(0, Math.min(position.selected + by, items.count - 1));
  if (selects) return { ...position, match: null, top, selected };
  const { columns } = bodyOf(content, size);
  const to = Number.isFinite(by) ? movedBy(items, columns, top, by) : by > 0 ? atEnd : start.top;
  return { ...position, match: null, top: seen(content, { ...position, top: to }, size)[0]?.place ?? top };
};

const searched = (content: Scrolling, position: Position, key: Key, size: Size): ViewStep => {
  const name = key.type === "key" ? key.name : "";
  if (name !== "enter" && name !== "escape") return {};
  const words = name === "enter" ? (position.typing ?? "") : "";
  return { view: scrollingView(content, toMatch(content, { ...position, typing: null, words, match: null }, 0, size)) };
};

/**
 * Returns the position at the next match after or before the last one; with direction 0 it may be the present place.
 */
const toMatch = (content: Scrolling, position: Position, direction: 1 | 0 | -1, size: Size): Position => {
  const { items, selects } = content;
  const { words, match, selected } = position;
  if (words === "" || items.count === 0) return position;
  const { columns } = bodyOf(content, size);
  const top = seen(content, position, size)[0]?.place ?? start.top;
  const place = found(
    items,
    columns,
    words,
    match ?? (selects ? { item: selected, line: 0 } : top),
    direction,
    selects,
  );
  if (place === null) return { ...position, match: null, note: `not found: ${words}` };
  const count = items.count < 2 ? 0 : matchesIn(items, words);
  const note = count === 0 ? position.note : `${count} of ${items.count} have ${named(words)} · n next`;
  return { ...position, top: selects ? position.top : place, selected: place.item, match: place, note };
};

const matchesIn = (items: Items, words: string): number => {
  let count = 0;
  for (let item = 0; item < items.count; item++)
    if (items.text(item).toLowerCase().includes(words.toLowerCase())) count += 1;
  return count;
};

/** Returns a full-screen view of a text, as lines for a width. */
export const textView = (title: string, lines: (columns: number) => readonly Line[]): View =>
  scrollingView({
    title,
    items: { count: 1, lines: (_, columns) => lines(columns), text: () => lines(wide).map(textOfLine).join("\n") },
    empty: "",
    selects: false,
    hints: ["↑↓ scroll"],
  });

const wide = 10_000;

/** Makes a view return to another one instead of closing. */
export const backTo = (view: View, before: View): View => ({
  ...view,
  press: (key, size) => {
    const step = view.press(key, size);
    if (step.view === null) return { ...step, view: before };
    return step.view === undefined ? step : { ...step, view: backTo(step.view, before) };
  },
});

/**
 * Finds the next place of some words, ignoring case, after or before a place, and wraps around. With direction 0 it may
 * be the same place. Only items whose text has the words are laid out. Null if there is none.
 */
const found = (
  items: Items,
  columns: number,
  words: string,
  from: Place,
  direction: 1 | 0 | -1,
  wholeItems: boolean,
): Place | null => {
  const wanted = words.toLowerCase();
  const back = direction === -1;
  const placesIn = (item: number): readonly Place[] => {
    if (!items.text(item).toLowerCase().includes(wanted)) return [];
    const lines = wholeItems ? [] : items.lines(item, columns);
    const places = lines.flatMap((line, index) =>
      textOfLine(line).toLowerCase().includes(wanted) ? [{ item, line: index }] : [],
    );
    // The words are there, but split over two lines.
    return places.length === 0 ? [{ item, line: 0 }] : places;
  };
  const isFurther = ({ item, line }: Place): boolean =>
    item !== from.item || (back ? line < from.line : line > from.line || (direction === 0 && line === from.line));
  // The start item comes twice: first for its later places, and after wrapping around for the others.
  for (let steps = 0; steps <= items.count; steps++) {
    const item = (from.item + (back ? -steps : steps) + items.count) % items.count;
    const places = steps === 0 ? placesIn(item).filter(isFurther) : placesIn(item);
    const place = back ? places.at(-1) : places[0];
    if (place !== undefined) return place;
  }
  return null;
};
