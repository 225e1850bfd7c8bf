import type { Connection } from "./connection.ts";
import { keysOf, markedAt, type MarkKind, marksKey } from "./keys.ts";
import { due, enlist, postpone, type Script, strike } from "./scripts.ts";

// Marks name the threads with leases or unanswered inbox items, so that these are found without reading every thread. A
// thread's own keys decide. They are written first and the marks afterwards, so a crash may leave a mark without a
// lease or an item, which the next reader removes, and an item without a mark, whose post was not acknowledged. Each lease and each item has its own mark, so that a late removal
// leaves the marks of newer ones.

/** Adds a mark that is read from a time on, in milliseconds since the epoch. */
export const addMark = async (
  { prefix, run }: Connection,
  kind: MarkKind,
  mark: string,
  from: string | number,
  ...replaced: readonly string[]
): Promise<void> => {
  await run(enlist, [marksKey(prefix, kind)], [from, mark, ...replaced]);
};

export const removeMarks = async (
  { prefix, run }: Connection,
  kind: MarkKind,
  marks: readonly string[],
): Promise<void> => {
  if (marks.length > 0) await run(strike, [marksKey(prefix, kind)], marks);
};

/**
 * Returns the ids of threads whose marks are true by now.
 *
 * @param left runs on a thread's keys, with the id in the mark and the time. It returns nil if the mark is stale, '' if
 *   it is true, and else the time from which on it may be true.
 */
export const markedThreads = async (
  connection: Connection,
  kind: MarkKind,
  left: Script,
): Promise<readonly string[]> => {
  const { prefix, now, run } = connection;
  const found = new Set<string>();
  let cursor = "0";
  do {
    // The type that the script returns: a cursor, then pairs.
    const [next, ...pairs] = (await run(due, [marksKey(prefix, kind)], [cursor, now()])) as readonly string[];
    const stale: string[] = [];
    const later: string[] = [];
    const look = async (mark: string, score: string): Promise<void> => {
      const { threadId, id } = markedAt(mark);
      // The type that the scripts return.
      const from = (await run(left, keysOf(prefix, threadId), [id, now()])) as string | null;
      if (from === null) stale.push(mark);
      else if (from === "") found.add(threadId);
      else later.push(mark, score, from);
    };
    await Promise.all(pairs.flatMap((mark, index) => (index % 2 === 0 ? [look(mark, pairs[index + 1] ?? "")] : [])));
    await removeMarks(connection, kind, stale);
    if (later.length > 0) await run(postpone, [marksKey(prefix, kind)], later);
    cursor = next ?? "0";
  } while (cursor !== "0");
  return [...found];
};
