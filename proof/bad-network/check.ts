import type { Store } from "@colloquy/host";

import { chunkText } from "../kit/contents.ts";
import type { Book } from "./book.ts";
import { headIn } from "./user.ts";

/** Compares what a store has, read without the network between, with what was acknowledged. */
export const violationsIn = async (
  store: Store,
  book: Book,
  threadIds: readonly string[],
): Promise<readonly string[]> => {
  const problems: string[] = [];
  for (const threadId of threadIds) {
    const stored = await store.read(threadId);
    problems.push(...book.problemsOf(threadId, stored), ...book.lostFrom(threadId, stored));
    problems.push(...(await snapshotProblems(store, book, threadId)));
    problems.push(...(await letterProblems(store, book, threadId)));
  }
  const { threads } = await store.list({ limit: 100 });
  const listed = new Set(threads.map(({ threadId }) => threadId));
  if (listed.size < threads.length) problems.push("a thread is listed twice");
  return problems;
};

const snapshotProblems = async (store: Store, book: Book, threadId: string): Promise<readonly string[]> => {
  const snapshot = await store.readSnapshot(threadId);
  const newest = book.newestSnapshot(threadId);
  if (snapshot === null) return newest === undefined ? [] : [`${threadId}: snapshot ${newest} is lost`];
  await snapshot.fetch?.(null);
  const head = headIn(snapshot.head);
  return [
    ...(newest !== undefined && head.number < newest
      ? [`${threadId}: snapshot ${newest} was acknowledged, and ${head.number} is there`]
      : []),
    ...head.chunks
      .filter((id) => snapshot.chunk(id) !== chunkText(id))
      .map((id) => `${threadId}: chunk ${id} of snapshot ${head.number} is missing or torn`),
  ];
};

const letterProblems = async ({ inbox }: Store, book: Book, threadId: string): Promise<readonly string[]> => {
  // Only users leave letters.
  const unanswered = ((await inbox?.unanswered(threadId)) ?? []) as readonly { readonly id: string }[];
  const waiting = new Set(unanswered.map(({ id }) => id));
  const problems = waiting.size < unanswered.length ? [`${threadId}: a letter is there twice`] : [];
  for (const [id, known] of book.lettersOf(threadId)) {
    // One that is discarded may be back: it was posted twice, and one of the two came late. Its ask has the same id.
    if (known === "discarding") continue;
    const answer = await inbox?.answerTo(threadId, id);
    if (known === "posted" && !waiting.has(id) && answer === null) problems.push(`${threadId}: letter "${id}" is lost`);
    if (known === "answered" && (waiting.has(id) || answer === null))
      problems.push(`${threadId}: the answer to letter "${id}" is lost`);
  }
  return problems;
};
