import type { Key } from "../input/key.ts";
import type { Line, Size } from "../text/line.ts";
import { widthOf } from "../text/width.ts";
import { cutLine, lineWidth } from "../text/wrap.ts";
import { highlighted, span, tailOf } from "./fitted.ts";
import { found } from "./found.ts";
import { type Items, movedBy, type Place, type Sight, sightFrom, topShowing } from "./items.ts";
import { keysIn, typed } from "./typed.ts";
import type { View, ViewFrame, ViewStep } from "./view.ts";

/** What a view shows of what it has, and what is its own about it. */
export interface Scrolling {
  readonly title: string;
  /** Above the items, where there is room for it. */
  readonly head?: (columns: number) => readonly Line[];
  readonly items: Items;
  /** Shown where there are no items. */
  readonly empty: string;
  /** Whether one of the items is selected; of others one sees lines. */
  readonly selects: boolean;
  /** Its own keys, in words, the most important first. */
  readonly hints: readonly string[];
  /** What a key of its own does; null for one that is none. */
  readonly press?: (name: string, position: Position, size: Size) => ViewStep | null;
  /** What a move comes to, where that is more than the same at another place. */
  readonly goTo?: (position: Position) => ViewStep;
  /** Words in its title, which are typed where other views have keys. */
  readonly query?: { readonly words: string; readonly typed: (words: string) => ViewStep };
}

/** Where in it one is. */
export interface Position {
  readonly top: Place;
  readonly selected: number;
  /** What `/` searched for; empty for nothing. */
  readonly words: string;
  /** What is being typed behind `/`; null while nothing is. */
  readonly typing: string | null;
  /** Where the words were found last, until one moves on. */
  readonly match: Place | null;
  /** What the last key came to, in words, in place of the hints. */
  readonly note: string | null;
}

/** At the beginning. */
export const start: Position = {
  top: { item: 0, line: 0 },
  selected: 0,
  words: "",
  typing: null,
  match: null,
  note: null,
};

/** A list or a text on the whole screen, in which one moves and searches. Lays out what is seen, and no more. */
export const scrollingView = (content: Scrolling, given: Position = start): View => {
  const position = { ...given, selected: Math.max(0, Math.min(given.selected, content.items.count - 1)) };
  return {
    title: content.title,
    show: (size) => frameOf(content, position, size),
    press: (key, size) => pressed(content, { ...position, note: null }, key, size),
  };
};

/** The same place in a list with one line for each item, as seen: for what is asked about it. */
export const seen = (content: Pick<Scrolling, "items" | "head" | "selects">, position: Position, size: Size): Sight => {
  const { columns, rows } = bodyOf(content, size);
  const { items, selects } = content;
  const { top, selected } = position;
  const from = selects && items.count > 0 ? topShowing(items, columns, rows, top, selected) : top;
  return sightFrom(items, columns, rows, from);
};

interface Body {
  readonly columns: number;
  readonly rows: number;
  readonly head: readonly Line[];
}

/** The last column stays free, so that no terminal wraps; the first two show what is selected, also without colours. */
const bodyOf = ({ head, selects }: Pick<Scrolling, "head" | "selects">, size: Size): Body => {
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
  const { lines } = seen(content, position, size);
  const body = lines.map(({ place, line }): Line => {
    const isSelected = selects && place.item === position.selected;
    const marked = selects ? [{ text: isSelected && place.line === 0 ? "> " : "  ", roles: [] }, ...line] : line;
    const shown = highlighted(marked, position.words);
    return isSelected ? shown.map(({ text, roles }) => ({ text, roles: [...roles, "selected" as const] })) : shown;
  });
  const last = selects ? position.selected : (lines.at(-1)?.place.item ?? 0);
  const title = titleOf(content, last, size.columns - 1);
  const bottom = bottomOf(content, position, size.columns - 1);
  const filled = Array.from({ length: rows }, (_, row): Line => body[row] ?? []);
  const above = [title.line, ...head, ...(items.count === 0 ? filled.with(0, [span(empty, "dim")]) : filled)];
  // On a screen of a row or two, where one is counts more than the keys.
  const shown = [...above.slice(0, Math.max(size.rows - 1, 1)), ...(size.rows > 1 ? [bottom.line] : [])];
  const cursor =
    bottom.cursor === null
      ? title.cursor === null
        ? {}
        : { cursor: { row: 0, column: title.cursor } }
      : size.rows > 1
        ? { cursor: { row: shown.length - 1, column: bottom.cursor } }
        : {};
  return { lines: shown.map((line) => cutLine(line, size.columns - 1)), ...cursor };
};

interface Row {
  readonly line: Line;
  readonly cursor: number | null;
}

const titleOf = ({ title, query, items }: Scrolling, item: number, width: number): Row => {
  const place = items.count < 2 ? "" : `${item + 1}/${items.count}`;
  const name = cutLine([span(query === undefined ? title : `${title}: `, "heading")], width - 1);
  const room = width - 1 - lineWidth(name);
  const words = query === undefined ? "" : tailOf(span(query.words).text, room);
  const left: Line = [...name, { text: words, roles: ["prompt"] }];
  const gap = width - lineWidth(left) - widthOf(place);
  return {
    line: gap < 2 ? left : [...left, { text: " ".repeat(gap), roles: [] }, { text: place, roles: ["dim"] }],
    cursor: query === undefined ? null : Math.max(Math.min(lineWidth(left), width - 1), 0),
  };
};

const bottomOf = (content: Scrolling, { typing, note }: Position, width: number): Row => {
  if (typing !== null) {
    const line: Line = [{ text: "/", roles: ["prompt"] }, span(tailOf(typing, width - 2))];
    return { line, cursor: Math.max(Math.min(lineWidth(line), width - 1), 0) };
  }
  if (note !== null) return { line: [span(note, "warning")], cursor: null };
  const hints =
    content.query === undefined ? ["q close", ...content.hints, "/ search"] : ["Esc close", ...content.hints];
  return { line: [{ text: thatFit(hints, width), roles: ["dim"] }], cursor: null };
};

/** As many of the hints as there is room for. */
const thatFit = (hints: readonly string[], width: number): string => {
  const [first = "", ...others] = hints;
  return others.reduce((line, hint) => {
    const longer = `${line} · ${hint}`;
    return widthOf(longer) <= width ? longer : line;
  }, first);
};

const pressed = (content: Scrolling, position: Position, key: Key, size: Size): ViewStep => {
  if (position.typing !== null) return searching(content, position, key, size);
  if (content.query !== undefined) {
    const words = typed(content.query.words, key);
    if (words !== null) return content.query.typed(words);
  }
  const [name, ...others] = keysIn(key);
  if (name === undefined) return {};
  const step = content.press?.(name, position, size) ?? moved(content, position, name, size);
  if (others.length === 0 || step.view === null || step.action !== undefined || step.later !== undefined) return step;
  // Typed quickly, keys come together.
  const view = step.view ?? scrollingView(content, position);
  return { view, ...view.press({ type: "text", text: others.join("") }, size) };
};

const moved = (content: Scrolling, position: Position, name: string, size: Size): ViewStep => {
  const { rows } = bodyOf(content, size);
  const by = (steps: number): ViewStep => goTo(content, stepped(content, position, steps, size));
  const { count } = content.items;
  switch (name) {
    case "escape":
    case "q":
      return { view: null };
    case "up":
    case "k":
      return by(-1);
    case "down":
    case "j":
      return by(1);
    case "pageup":
      return by(1 - rows);
    case "pagedown":
    case "space":
    case " ":
      return by(rows - 1);
    case "home":
    case "g":
      return by(-Infinity);
    case "end":
    case "G":
    case "shift+g":
      return by(Infinity);
    case "/":
      return count === 0 ? {} : { view: scrollingView(content, { ...position, typing: "" }) };
    case "n":
      return goTo(content, toMatch(content, position, 1, size));
    case "N":
    case "shift+n":
      return goTo(content, toMatch(content, position, -1, size));
    default:
      return {};
  }
};

const goTo = (content: Scrolling, position: Position): ViewStep =>
  content.goTo?.(position) ?? { view: scrollingView(content, position) };

/** So many items or lines further on. */
const stepped = (content: Scrolling, position: Position, by: number, size: Size): Position => {
  const { items, selects } = content;
  if (items.count === 0) return position;
  const { top } = seen(content, position, size);
  const still = { ...position, match: null };
  if (selects) return { ...still, top, selected: Math.max(0, Math.min(position.selected + by, items.count - 1)) };
  if (by === -Infinity) return { ...still, top: start.top };
  const { columns } = bodyOf(content, size);
  const to = by === Infinity ? { item: items.count, line: 0 } : movedBy(items, columns, top, by);
  return { ...still, top: seen(content, { ...still, top: to }, size).top };
};

const searching = (content: Scrolling, position: Position, key: Key, size: Size): ViewStep => {
  const { typing } = position;
  const words = typed(typing ?? "", key);
  if (words !== null) return { view: scrollingView(content, { ...position, typing: words }) };
  const name = key.type === "key" ? key.name : "";
  if (name === "escape" || (name === "enter" && typing === ""))
    return { view: scrollingView(content, { ...position, typing: null, words: "" }) };
  if (name !== "enter") return {};
  const asked = { ...position, typing: null, words: typing ?? "", match: null };
  return { view: scrollingView(content, toMatch(content, asked, 0, size)) };
};

/** At the next place of the words, behind or before the last one; with 0 it may be where one is. */
const toMatch = (content: Scrolling, position: Position, direction: 1 | 0 | -1, size: Size): Position => {
  const { items, selects } = content;
  const { words, match } = position;
  if (words === "" || items.count === 0) return position;
  const { columns } = bodyOf(content, size);
  const here = match ?? (selects ? { item: position.selected, line: 0 } : seen(content, position, size).top);
  const place = found(items, columns, words, here, direction, selects);
  if (place === null) return { ...position, match: null, note: `not found: ${words}` };
  return { ...position, top: selects ? position.top : place, selected: place.item, match: place };
};

/** A text on the whole screen, as lines for so many columns. */
export const textView = (
  title: string,
  lines: (columns: number) => readonly Line[],
  own: Partial<Scrolling> = {},
): View =>
  scrollingView({
    title,
    items: {
      count: 1,
      lines: (_, columns) => lines(columns),
      text: () =>
        lines(wide)
          .flat()
          .map(({ text }) => text)
          .join("\n"),
    },
    empty: "",
    selects: false,
    hints: [],
    ...own,
  });

const wide = 10_000;

/** A view that goes back to another one where it would close. */
export const backTo = (view: View, before: View): View => ({
  ...view,
  press: (key, size) => {
    const step = view.press(key, size);
    if (step.view === null) return { ...step, view: before };
    return step.view === undefined ? step : { ...step, view: backTo(step.view, before) };
  },
});
