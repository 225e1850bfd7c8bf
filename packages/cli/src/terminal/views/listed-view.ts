import { reasonOf } from "../text/failure-text.ts";
import type { Line } from "../text/line.ts";
import { itemsOf } from "./items.ts";
import { type Position, scrollingView, start } from "./scrolling-view.ts";
import type { View, ViewStep } from "./view.ts";

/** The source of a list's rows, page by page. */
export interface Listed<Row> {
  readonly title: string;
  /** Returns the rows for some words, after the `next` of the page before. */
  readonly page: (words: string, after: string | null) => Promise<Page<Row>>;
  /** Returns the text to show if nothing was found. */
  readonly none: (words: string) => string;
  readonly line: (row: Row, columns: number) => Line;
  /** Returns the text of a row in which the typed words occur. */
  readonly text: (row: Row) => string;
  /** Returns the effect of Enter. */
  readonly open: (row: Row) => Promise<ViewStep>;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

/** Returns a list that is requested again as the person types, and extended near its end. */
export const listedView = async <Row>(listed: Listed<Row>, words: string): Promise<View> =>
  viewOf(listed, { words, ...(await listed.page(words, null)), coming: null }, start);

interface Known<Row> extends Page<Row> {
  readonly words: string;
  /** The requested rows that have not arrived yet. */
  readonly coming: Promise<Known<Row>> | null;
}

const viewOf = <Row>(listed: Listed<Row>, known: Known<Row>, position: Position): View =>
  scrollingView(
    {
      title: listed.title,
      items: itemsOf(known.rows, listed.line, listed.text),
      empty: known.coming === null ? listed.none(known.words) : "…",
      selects: true,
      hints: ["Enter open", "↑↓ choose"],
      goTo: (to) => step(listed, known, to),
      query: {
        words: known.words,
        typed: (words) => step(listed, { ...known, words, coming: asked(listed, { ...known, words }, false) }, start),
      },
      press: (name, at) => {
        const row = known.rows[at.selected];
        if (name !== "enter" || row === undefined) return null;
        const failed = (thrown: unknown): ViewStep => ({
          view: viewOf(listed, known, { ...at, note: reasonOf(thrown) }),
        });
        return { view: viewOf(listed, known, { ...at, note: "opening …" }), later: listed.open(row).catch(failed) };
      },
    },
    { ...position, words: known.words },
  );

/** Returns the view at a position, and the view that follows when rows arrive. */
const step = <Row>(listed: Listed<Row>, known: Known<Row>, at: Position): ViewStep => {
  const needsMore = known.next !== null && at.selected >= known.rows.length - nearEnd;
  const coming = known.coming ?? (needsMore ? asked(listed, known, true) : null);
  const view = viewOf(listed, { ...known, coming }, at);
  if (coming === null) return { view };
  const failed = (thrown: unknown): ViewStep => ({
    view: viewOf(listed, { ...known, rows: [], next: null, coming: null }, { ...at, note: reasonOf(thrown) }),
  });
  return { view, later: coming.then((come): ViewStep => ({ view: viewOf(listed, come, at) })).catch(failed) };
};

const nearEnd = 10;

const asked = async <Row>(listed: Listed<Row>, known: Known<Row>, more: boolean): Promise<Known<Row>> => {
  const { rows, next } = await listed.page(known.words, more ? known.next : null);
  return { ...known, rows: more ? [...known.rows, ...rows] : rows, next, coming: null };
};
