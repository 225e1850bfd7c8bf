import type { Store } from "@colloquy/host";

import { envelopeProblems, snapshotProblems } from "../kit/store-checks.ts";
import type { Book } from "./book.ts";

/** Compares what a store has, read without the network between, with what was acknowledged. */
export const violationsIn = async (
  store: Store,
  book: Book,
  threadIds: readonly string[],
): Promise<readonly string[]> => {
  const problems: string[] = [];
  for (const threadId of threadIds) {
    const stored = await store.read(threadId);
    // A discarded envelope may be back: it was posted twice, and one of the two came late. Its ask has the same id.
    const derived = [
      ...(await snapshotProblems(store, threadId, book.newestSnapshot(threadId))),
      ...(await envelopeProblems(store, threadId, book.envelopesOf(threadId))),
    ];
    problems.push(...book.problemsOf(threadId, stored), ...book.lostFrom(threadId, stored));
    problems.push(...derived.map((problem) => `${threadId}: ${problem}`));
  }
  const { threads } = await store.list({ limit: 100 });
  const listed = new Set(threads.map(({ threadId }) => threadId));
  if (listed.size < threads.length) problems.push("a thread is listed twice");
  return problems;
};
