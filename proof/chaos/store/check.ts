import type { Store } from "@colloquy/host";

import type { Book, ItemState, ThreadBook } from "./book.ts";
import { chunkText, headIn, itemOf } from "./contents.ts";

export const entryProblems = async (
  store: Store,
  book: Book,
  threadIds: readonly string[],
): Promise<readonly string[]> => {
  const problems = threadIds.map(async (threadId) => {
    // Taken before the journal is read, as all of this must be in it.
    const expected = book.of(threadId).expected();
    return inThread(threadId, book.of(threadId).problemsOf(await store.read(threadId), expected));
  });
  return (await Promise.all(problems)).flat();
};

interface ProblemsOptions {
  /** All that is found is flushed. Default: false. */
  readonly adopts?: boolean;
  /** The store has no other threads. Default: true. */
  readonly isAlone?: boolean;
}

/** Returns the differences between an idle store and a book: lost, torn, doubled or unknown data. */
export const problemsIn = async (
  store: Store,
  book: Book,
  threadIds: readonly string[],
  { adopts = false, isAlone = true }: ProblemsOptions = {},
): Promise<readonly string[]> => {
  const problems: string[] = [];
  const there: string[] = [];
  for (const threadId of threadIds) {
    const thread = book.of(threadId);
    const stored = await store.read(threadId);
    if (stored.length > 0) there.push(`${threadId} ${stored.length - 1}`);
    const [number, torn] = await snapshotIn(store, threadId);
    const found = [
      ...thread.problemsOf(stored),
      ...torn,
      ...thread.snapshotProblems(number),
      ...(stored.length === 0 && number !== null ? [`snapshot ${number} is there, and its journal is not`] : []),
      ...(await itemProblems(store, threadId, thread, adopts)),
    ];
    problems.push(...inThread(threadId, found));
    if (adopts) thread.adopt(stored, number);
  }
  const { threads } = await store.list({ limit: 100 });
  const listed = threads
    .filter(({ threadId }) => isAlone || threadIds.includes(threadId))
    .map(({ threadId, seq }) => `${threadId} ${seq}`);
  return listed.toSorted().join() === there.toSorted().join()
    ? problems
    : [...problems, `the list has ${listed.join(", ")}; the journals are ${there.join(", ")}`];
};

const inThread = (threadId: string, problems: readonly string[]): readonly string[] =>
  problems.map((problem) => `thread "${threadId.slice(0, 10)}": ${problem}`);

const snapshotIn = async (store: Store, threadId: string): Promise<readonly [number | null, readonly string[]]> => {
  const snapshot = await store.readSnapshot(threadId);
  if (snapshot === null) return [null, []];
  await snapshot.fetch?.(null);
  const head = headIn(snapshot.head);
  if (head === null) return [null, [`the head of its snapshot is torn: ${snapshot.head}`]];
  const torn = head.chunks.filter((id) => snapshot.chunk(id) !== chunkText(id));
  return [head.number, torn.map((id) => `chunk ${id} of snapshot ${head.number} is missing or torn`)];
};

const itemProblems = async (
  { inbox }: Store,
  threadId: string,
  { items }: ThreadBook,
  adopts: boolean,
): Promise<readonly string[]> => {
  const unanswered = await unansweredIn(inbox, threadId);
  const waiting = unanswered.map(({ id }) => id);
  const problems = new Set(waiting).size < waiting.length ? ["an inbox item is there twice"] : [];
  for (const each of unanswered) {
    if (JSON.stringify(each) !== JSON.stringify(itemOf(each.id))) problems.push(`inbox item "${each.id}" is torn`);
    if (!items.has(each.id)) problems.push(`inbox item "${each.id}" was never posted`);
  }
  // The items of one user keep the order of posting.
  for (const [owner, ids] of Map.groupBy(waiting, (id) => id.split(" ").slice(0, -1).join(" "))) {
    const numbers = ids.filter((id) => items.get(id) === "posted").map((id) => Number(id.split(" ").at(-1)));
    if (numbers.some((number, index) => number < (numbers[index - 1] ?? 0)))
      problems.push(`the inbox items of ${owner} are out of order: ${ids.join(", ")}`);
  }
  for (const [id, state] of items) {
    const isAnswered = (await inbox?.answerTo(threadId, id)) !== null;
    const problem = itemProblem(state, waiting.includes(id), isAnswered);
    if (problem !== null) problems.push(`inbox item "${id}" ${problem}`);
    if (adopts && (isAnswered || waiting.includes(id))) items.set(id, isAnswered ? "answered" : "posted");
  }
  return problems;
};

const itemProblem = (state: ItemState, isWaiting: boolean, isAnswered: boolean): string | null => {
  if (isWaiting && isAnswered) return "has an answer, and waits";
  if ((state === "posted" || state === "answering") && !isWaiting && !isAnswered) return "is lost";
  if (state === "answered" && !isAnswered) return "had an answer, which is lost";
  return state === "discarded" && (isWaiting || isAnswered) ? "was discarded, and is there" : null;
};

export const unansweredIn = async (
  inbox: Store["inbox"],
  threadId: string,
): Promise<readonly { readonly id: string }[]> =>
  // All items there come from `itemOf`.
  ((await inbox?.unanswered(threadId)) ?? []) as readonly { readonly id: string }[];
