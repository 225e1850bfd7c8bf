import { reasonOf } from "../text/failure-text.ts";
import { type Line, span } from "../text/line.ts";
import { firstQuestionIn } from "./first-question.ts";
import { itemsOf, rowOf } from "./items.ts";
import { type Position, scrollingView, start } from "./scrolling-view.ts";
import type { View, ViewStep } from "./view.ts";
import type { Host, SearchHit, StoredThread } from "@colloquy/host";
import { oneLine } from "../text/printable.ts";
import { counted } from "../text/figures.ts";

/** The source of a list's rows, page by page. */
interface Listed<Row> {
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

interface Page<Row> {
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
      hasMore: known.next !== null,
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

/**
 * Returns a view that searches all threads as the person types; Enter opens the thread at that turn. Rejects if the
 * store does not support search.
 */
export const searchView = (host: Host, words = ""): Promise<View> =>
  listedView<SearchHit>(
    {
      title: "Search",
      page: async (typed, after) => {
        // Requested even without words, so that a store without search reports it at once.
        const { hits, next } = await host.search(typed, { limit: hitsMax, ...(after === null ? {} : { after }) });
        return { rows: hits, next };
      },
      none: (typed) => (typed.trim() === "" ? "type words that were said" : "nothing was found"),
      line: ({ threadId, excerpt, at }, columns) =>
        rowOf([span(`${threadId} `, "name")], span(oneLine(excerpt)), [[span(dateOf(at), "dim")]], columns),
      text: ({ excerpt }) => excerpt,
      open: async ({ threadId, seq }): Promise<ViewStep> => {
        const { conversation, open } = (await host.thread(threadId).at(seq)).context;
        const turn = open?.number ?? conversation.head;
        return { view: null, action: { type: "openThread", threadId, ...(turn === 0 ? {} : { turn }) } };
      },
    },
    words,
  );

const hitsMax = 50;

/**
 * Returns a view of a host's threads, newest first, whose title, first question or id contains the typed text; Enter
 * opens one.
 */
export const threadsView = (host: Host): Promise<View> => {
  const known = new Map<string, Promise<ThreadRow>>();
  // A thread's row changes with its entries.
  const rowOfThread = (thread: StoredThread): Promise<ThreadRow> => {
    const key = `${thread.seq} ${thread.threadId}`;
    const row = known.get(key) ?? threadRow(host, thread);
    known.set(key, row);
    return row;
  };
  return listedView<ThreadRow>(
    {
      title: "Threads",
      page: async (words, from): Promise<Page<ThreadRow>> => {
        const rows: ThreadRow[] = [];
        let after = from;
        do {
          const page = await host.threads({ limit: threadsMax, ...(after === null ? {} : { after }) });
          const all = await Promise.all(page.threads.map(rowOfThread));
          rows.push(...all.filter((row) => textOf(row).toLowerCase().includes(words.trim().toLowerCase())));
          after = page.next;
        } while (rows.length < threadsMax && after !== null);
        return { rows, next: after };
      },
      none: (words) => (words === "" ? "there are no threads" : "no thread has that"),
      line: (row, columns) =>
        rowOf(
          [],
          span(row.title === "" ? row.threadId : row.title),
          [
            [span(dateOf(row.updatedAt), "dim")],
            [span(counted(row.turns, "turn"), "number")],
            [span(row.threadId, "name")],
          ],
          columns,
        ),
      text: textOf,
      open: async ({ threadId }): Promise<ViewStep> => ({ view: null, action: { type: "openThread", threadId } }),
    },
    "",
  );
};

const threadsMax = 20;

/** Formats the local date and minute. */
const dateOf = (at: number): string =>
  new Intl.DateTimeFormat("sv", { dateStyle: "short", timeStyle: "short" }).format(at);

interface ThreadRow {
  readonly threadId: string;
  readonly updatedAt: number;
  /** The thread's name, otherwise its first question. */
  readonly title: string;
  readonly turns: number;
}

const textOf = ({ title, threadId }: ThreadRow): string => `${title} ${threadId}`;

const threadRow = async (host: Host, { threadId, updatedAt, metadata }: StoredThread): Promise<ThreadRow> => {
  const { title } = metadata;
  const seen = await host.thread(threadId).look((state) => ({
    question: firstQuestionIn(state),
    turns: state.context.conversation.turns.length,
  }));
  return {
    threadId,
    updatedAt,
    title: oneLine(typeof title === "string" ? title : (seen?.question ?? "")),
    turns: seen?.turns ?? 0,
  };
};
