import { cursorOf, isListed } from "@colloquy/host/store";
import type { ListOptions, Store, StoredThread } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import { fault, type Fault, type Faults } from "./fault.ts";

/** Stores with wrong lists. */
export const listingFaults: Faults = [
  fault("a list in no order", "by the code points of their ids", (sound) => ({
    list: async (options) => {
      const { threads, next } = await sound.list(options);
      return { threads: threads.toReversed(), next };
    },
  })),
  fault(
    "ids in the order of UTF-16",
    "by the code points of their ids",
    listing((threads, { order }) => {
      const sign = order === "oldest" ? 1 : -1;
      return threads.toSorted(
        (one, other) => sign * (one.createdAt - other.createdAt || (one.threadId < other.threadId ? -1 : 1)),
      );
    }),
  ),
  fault("pages without a limit", "gives pages of the size that is wanted", (sound) => ({
    list: (options) => sound.list({ ...options, limit: 1e9 }),
  })),
  fault("a page of nothing after the last", "gives pages of the size that is wanted", (sound) => ({
    list: async (options) => {
      const page = await sound.list(options);
      const last = page.threads.at(-1);
      return last === undefined ? page : { ...page, next: cursorOf(last) };
    },
  })),
  fault(
    "a page that begins with the end of the one before",
    "to a reader of the pages while others write",
    (sound) => ({
      list: async ({ after, ...options } = {}) => {
        const all = (await sound.list({ ...options, limit: 1e9 })).threads;
        const start = after === undefined ? 0 : all.findIndex((thread) => cursorOf(thread) === after);
        const page = all.slice(Math.max(start, 0), Math.max(start, 0) + (options.limit ?? 100));
        const last = page.at(-1);
        return { threads: page, next: last === undefined || last === all.at(-1) ? null : cursorOf(last) };
      },
    }),
  ),
  fault("pages by number", "to a reader of the pages while others write", byNumber),
  fault("pages cut before they are filtered", "fills its pages where few threads are wanted", (sound) => ({
    list: async ({ metadata, ...options } = {}) => {
      const { threads, next } = await sound.list(options);
      return { threads: threads.filter((thread) => isListed(thread, { ...(metadata && { metadata }) })), next };
    },
  })),
  fault("metadata as it was at first", "with its newest seq, its times and its metadata", (sound) => ({
    append: (lease, seq, entries) =>
      sound.append(
        lease,
        seq,
        entries.map((entry) => (entry.event.type === "metadata.changed" ? unchanged(entry) : entry)),
      ),
  })),
  fault(
    "metadata that has some of what is wanted",
    "each member equal",
    listing((threads, { metadata = {} }) =>
      threads.filter((thread) => Object.keys(metadata).every((name) => name in thread.metadata)),
    ),
  ),
  fault("a time whose end is included", "its end not included", (sound) => ({
    list: (options = {}) => {
      const { created } = options;
      const until = created?.until === undefined ? {} : { until: created.until + 1 };
      return sound.list({ ...options, ...(created && { created: { ...created, ...until } }) });
    },
  })),
  fault("a limit of anything", "refuses options of a listing that are invalid", (sound) => ({
    list: ({ limit = 1, ...options } = {}) => sound.list({ ...options, limit: limit >= 1 ? 1 : 1 }),
  })),
];

/** Lists, in one page, the threads that `choose` returns. */
function listing(choose: (threads: readonly StoredThread[], options: ListOptions) => readonly StoredThread[]): Fault {
  return (sound) => ({
    list: async (options = {}) => {
      const all = await sound.list({ limit: 1e9 });
      return { threads: choose(all.threads, options), next: null };
    },
  });
}

function byNumber(sound: Store): Partial<Store> {
  return {
    list: async ({ after = "0", limit = 100, ...options } = {}) => {
      const all = (await sound.list({ ...options, limit: 1e9 })).threads;
      const end = Number(after) + limit;
      return { threads: all.slice(Number(after), end), next: end < all.length ? String(end) : null };
    },
  };
}

const unchanged = ({ seq, event }: Entry): Entry => ({
  seq,
  event: { type: "checkpoint.named", at: event.at, name: "nothing" },
});
