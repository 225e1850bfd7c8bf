import {
  checkedListing,
  comparePlaces,
  cursorOf,
  isListed,
  type ListOptions,
  type StoredThread,
  type ThreadPage,
} from "@colloquy/host";

/** The page that is wanted of all threads. Throws a `RangeError` for options that can't be meant. */
export const pageOfThreads = (threads: () => readonly StoredThread[], options: ListOptions = {}): ThreadPage => {
  const { order, limit, after } = checkedListing(options);
  const sign = order === "oldest" ? 1 : -1;
  const wanted = threads()
    .filter((thread) => (after === null || sign * comparePlaces(thread, after) > 0) && isListed(thread, options))
    .sort((one, other) => sign * comparePlaces(one, other));
  const page = wanted.slice(0, limit);
  const last = page.at(-1);
  return { threads: page, next: last === undefined || wanted.length <= limit ? null : cursorOf(last) };
};
