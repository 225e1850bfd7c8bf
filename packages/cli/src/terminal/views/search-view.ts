import type { Host, SearchHit } from "@colloquy/host";
import { span } from "../text/line.ts";
import { oneLine } from "../text/printable.ts";
import { listedView } from "./listed-view.ts";
import { rowOf } from "./row.ts";
import { dateOf } from "./threads-view.ts";
import type { View, ViewStep } from "./view.ts";

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
        const { hits, next } = await host.search(typed, { limit, ...(after === null ? {} : { after }) });
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

const limit = 50;
