import { reasonOf } from "../text/failure-text.ts";
import type { Line } from "../text/line.ts";
import { itemsOf } from "./items.ts";
import { type Position, scrollingView, start } from "./scrolling-view.ts";
import type { View, ViewStep } from "./view.ts";

/** Where the rows of a list come from, page by page. */
export interface Listed<Row> {
  readonly title: string;
  /** What there is for some words, behind the `next` of the page before. */
  readonly page: (words: string, after: string | null) => Promise<Page<Row>>;
  /** Shown where nothing was found. */
  readonly none: (words: string) => string;
  readonly line: (row: Row, columns: number) => Line;
  /** What the words that are typed are seen in. */
  readonly text: (row: Row) => string;
  /** What Enter comes to. */
  readonly open: (row: Row) => Promise<ViewStep>;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

/** A list that is asked for anew as one types, and for more where one comes near its end. */
export const listedView = async <Row>(listed: Listed<Row>, words: string): Promise<View> =>
  viewOf(listed, { words, ...(await listed.page(words, null)), coming: null }, start);

interface Known<Row> extends Page<Row> {
  readonly words: string;
  /** What was asked for and is not here yet: what is known then. */
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

/** The view at a position now, and with what comes later. */
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
