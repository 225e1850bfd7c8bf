import type { Store } from "@colloquy/host";

import { chunkText, type Head, envelopeOf, threadIds } from "../kit/contents.ts";
import type { Expected, EnvelopeState, ThreadState } from "./expected.ts";

/** The view that a store has of all threads. */
export interface Seen {
  readonly threads: ReadonlyMap<string, SeenThread>;
  /** The violations that were seen. */
  readonly violations: readonly string[];
}

export interface SeenThread {
  readonly state: ThreadState;
  readonly envelopes: ReadonlyMap<string, EnvelopeState>;
}

/** Looks at everything. `envelopeIds` are the envelopes that there may be, in the order in which they were left. */
export const look = async (store: Store, envelopeIds: (threadId: string) => readonly string[]): Promise<Seen> => {
  const threads = new Map<string, SeenThread>();
  const violations: string[] = [];
  for (const threadId of threadIds) {
    const journal = (await store.read(threadId)).map((entry) => JSON.stringify(entry));
    const snapshot = await snapshotOf(store, threadId, violations);
    const envelopes = await envelopesOf(store, threadId, envelopeIds(threadId), violations);
    threads.set(threadId, { state: { journal, snapshot }, envelopes });
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
    // `headOf` wrote this JSON, if it is whole.
    return (JSON.parse(head) as Head).chunks;
  } catch {
    return null;
  }
};

export const headOf = (head: Head): string => JSON.stringify(head);

const envelopesOf = async (
  store: Store,
  threadId: string,
  ids: readonly string[],
  violations: string[],
): Promise<ReadonlyMap<string, EnvelopeState>> => {
  const { inbox } = store;
  if (inbox === undefined) throw new Error("a store of files has an inbox");
  const unanswered = (await inbox.unanswered(threadId)).map((envelope) => JSON.stringify(envelope));
  const states = new Map<string, EnvelopeState>();
  for (const id of ids) {
    const isLeft = unanswered.includes(JSON.stringify(envelopeOf(id)));
    const answer = await inbox.answerTo(threadId, id);
    states.set(id, answer === null ? (isLeft ? "left" : "absent") : "answered");
  }
  const left = ids.filter((id) => states.get(id) === "left").map((id) => JSON.stringify(envelopeOf(id)));
  if (JSON.stringify(left) !== JSON.stringify(unanswered))
    violations.push(
      `thread "${threadId}": its envelopes are torn, or not in the order in which they were left: ${unanswered.join(" ")}`,
    );
  return states;
};

/** In what a thread that is seen differs from what may be there; empty for nothing. */
export const differences = (
  threadId: string,
  { state, envelopes }: SeenThread,
  expected: Expected,
): readonly string[] => {
  const found: string[] = [];
  if (!expected.thread.left.some((each) => JSON.stringify(each) === JSON.stringify(state)))
    found.push(
      `thread "${threadId}": there is ${inWords(state)}; there may be ${expected.thread.left.map(inWords).join(", or ")}`,
    );
  for (const [id, { left }] of expected.envelopes) {
    const there = envelopes.get(id) ?? "absent";
    if (!left.includes(there))
      found.push(`thread "${threadId}": envelope ${id} is ${there}, and may be ${left.join(" or ")}`);
  }
  return found;
};

const inWords = ({ journal, snapshot }: ThreadState): string => {
  const marks = journal.map((entry) => /"(?:value|metadata)":"?([^"]{0,20})/.exec(entry)?.[1] ?? "?");
  return `${journal.length} entries (…${marks.slice(-2).join(", ")}) with ${snapshot === null ? "no snapshot" : `the snapshot ${snapshot}`}`;
};
