import type { Store } from "@colloquy/host";

import { chunkText, type Head, letterOf, threadIds } from "../kit/contents.ts";
import type { Expected, LetterState, ThreadState } from "./expected.ts";

/** What a store shows of all threads. */
export interface Seen {
  readonly threads: ReadonlyMap<string, SeenThread>;
  /** What nobody should ever see. */
  readonly violations: readonly string[];
}

export interface SeenThread {
  readonly state: ThreadState;
  readonly letters: ReadonlyMap<string, LetterState>;
}

/** Looks at everything. `letterIds` are the letters that there may be, in the order in which they were left. */
export const look = async (store: Store, letterIds: (threadId: string) => readonly string[]): Promise<Seen> => {
  const threads = new Map<string, SeenThread>();
  const violations: string[] = [];
  for (const threadId of threadIds) {
    const journal = (await store.read(threadId)).map((entry) => JSON.stringify(entry));
    const snapshot = await snapshotOf(store, threadId, violations);
    const letters = await lettersOf(store, threadId, letterIds(threadId), violations);
    threads.set(threadId, { state: { journal, snapshot }, letters });
  }
  const listed = (await store.list()).threads.map(({ threadId, seq }) => `${threadId} ${seq}`).sort();
  const there = Array.from(threads, ([threadId, { state }]) => `${threadId} ${state.journal.length - 1}`);
  const wanted = there.filter((line) => !line.endsWith(" -1")).sort();
  if (JSON.stringify(listed) !== JSON.stringify(wanted))
    violations.push(`the list has ${JSON.stringify(listed)}, the journals are ${JSON.stringify(wanted)}`);
  return { threads, violations };
};

const snapshotOf = async (store: Store, threadId: string, violations: string[]): Promise<string | null> => {
  const snapshot = await store.readSnapshot(threadId);
  if (snapshot === null) return null;
  const chunks = chunksOf(snapshot.head);
  if (chunks === null) violations.push(`thread "${threadId}": the head of its snapshot is torn: ${snapshot.head}`);
  for (const id of chunks ?? [])
    if (snapshot.chunk(id) !== chunkText(id))
      violations.push(`thread "${threadId}": chunk ${id} of its snapshot is missing or torn`);
  return snapshot.head;
};

/** The chunks that a head names; null for one that is not whole. */
export const chunksOf = (head: string): readonly string[] | null => {
  try {
    // What `headOf` wrote, if it is whole.
    return (JSON.parse(head) as Head).chunks;
  } catch {
    return null;
  }
};

export const headOf = (head: Head): string => JSON.stringify(head);

const lettersOf = async (
  store: Store,
  threadId: string,
  ids: readonly string[],
  violations: string[],
): Promise<ReadonlyMap<string, LetterState>> => {
  const { inbox } = store;
  if (inbox === undefined) throw new Error("a store of files has an inbox");
  const unanswered = (await inbox.unanswered(threadId)).map((letter) => JSON.stringify(letter));
  const states = new Map<string, LetterState>();
  for (const id of ids) {
    const isLeft = unanswered.includes(JSON.stringify(letterOf(id)));
    const answer = await inbox.answerTo(threadId, id);
    states.set(id, answer === null ? (isLeft ? "left" : "absent") : "answered");
  }
  const left = ids.filter((id) => states.get(id) === "left").map((id) => JSON.stringify(letterOf(id)));
  if (JSON.stringify(left) !== JSON.stringify(unanswered))
    violations.push(
      `thread "${threadId}": its letters are torn, or not in the order in which they were left: ${unanswered.join(" ")}`,
    );
  return states;
};

/** In what a thread that is seen differs from what may be there; empty for nothing. */
export const differences = (
  threadId: string,
  { state, letters }: SeenThread,
  expected: Expected,
): readonly string[] => {
  const found: string[] = [];
  if (!expected.thread.left.some((each) => JSON.stringify(each) === JSON.stringify(state)))
    found.push(
      `thread "${threadId}": there is ${inWords(state)}; there may be ${expected.thread.left.map(inWords).join(", or ")}`,
    );
  for (const [id, { left }] of expected.letters) {
    const there = letters.get(id) ?? "absent";
    if (!left.includes(there))
      found.push(`thread "${threadId}": letter ${id} is ${there}, and may be ${left.join(" or ")}`);
  }
  return found;
};

const inWords = ({ journal, snapshot }: ThreadState): string => {
  const marks = journal.map((entry) => /"(?:value|metadata)":"?([^"]{0,20})/.exec(entry)?.[1] ?? "?");
  return `${journal.length} entries (…${marks.slice(-2).join(", ")}) with ${snapshot === null ? "no snapshot" : `the snapshot ${snapshot}`}`;
};
