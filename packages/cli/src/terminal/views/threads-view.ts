import type { Host, StoredThread } from "@colloquy/host";
import { turnNumbered } from "@colloquy/machine";
import { counted } from "../text/figures.ts";
import { span } from "../text/line.ts";
import { oneLine } from "../text/printable.ts";
import { listedView, type Page } from "./listed-view.ts";
import { questionIn } from "./question.ts";
import { rowOf } from "./row.ts";
import type { View, ViewStep } from "./view.ts";

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
          const page = await host.threads({ limit, ...(after === null ? {} : { after }) });
          const all = await Promise.all(page.threads.map(rowOfThread));
          rows.push(...all.filter((row) => textOf(row).toLowerCase().includes(words.trim().toLowerCase())));
          after = page.next;
        } while (rows.length < limit && after !== null);
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

const limit = 20;

/** Formats the local date and minute. */
export const dateOf = (at: number): string =>
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
  const state = await host.thread(threadId).state();
  const first = state === null ? undefined : turnNumbered(state, 1);
  const { title } = metadata;
  return {
    threadId,
    updatedAt,
    title: oneLine(typeof title === "string" ? title : first === undefined ? "" : questionIn(first.messages)),
    turns: state?.context.conversation.turns.length ?? 0,
  };
};
