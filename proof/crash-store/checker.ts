import { setTimeout as delay } from "node:timers/promises";

import type { Lease } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";

import { digestIn, entryOf, threadIds } from "../kit/contents.ts";
import { type EnvelopeState, envelopeProblems, snapshotProblems, unansweredIn } from "../kit/store-checks.ts";
import type { Note } from "./notes.ts";

/** The content of a store after a kill. */
export interface Findings {
  /** Empty when all is as it should be. */
  readonly violations: readonly string[];
  readonly entries: number;
  /** The entries that the checker itself appended, to see that it can. */
  readonly notes: readonly Note[];
}

/** Compares a store with the acknowledged entries, and continues to write. */
export const check = async (store: Store, notes: readonly Note[]): Promise<Findings> => {
  const violations: string[] = [];
  const added: Note[] = [];
  let entries = 0;
  for (const threadId of threadIds) {
    const noted = notes.filter((note) => note.threadId === threadId);
    const before = await store.read(threadId);
    entries += before.length;
    const problems = [
      ...entryProblems(before, noted),
      ...(await snapshotProblems(store, threadId, newestSnapshot(noted))),
      ...(await inboxProblems(store, threadId, noted)),
      ...(await appendProblems(store, threadId, before.length, added)),
    ];
    violations.push(...problems.map((problem) => `thread "${threadId.slice(0, 10)}": ${problem}`));
  }
  return { violations, entries, notes: added };
};

const entryProblems = (entries: readonly unknown[], notes: readonly Note[]): readonly string[] => {
  const problems: string[] = [];
  for (const [seq, entry] of entries.entries()) {
    if ((entry as { readonly seq?: unknown }).seq !== seq)
      problems.push(`a gap: entry ${seq} is ${JSON.stringify(entry)}`);
    if (digestIn(entry) === null) problems.push(`entry ${seq} is torn`);
  }
  const digests = new Map<number, ReadonlySet<string>>();
  for (const note of notes) {
    if (note.type === "appended" || note.type === "rewritten") digests.set(note.seq, new Set([note.digest]));
    if (note.type === "rewriting") digests.set(note.seq, new Set([...(digests.get(note.seq) ?? []), note.digest]));
  }
  for (const [seq, expected] of digests) {
    const entry = entries[seq];
    if (entry === undefined) problems.push(`entry ${seq} was acknowledged, and is not there`);
    else if (!expected.has(digestIn(entry) ?? "")) problems.push(`entry ${seq} is not what was acknowledged`);
  }
  return problems;
};

/** Returns the number of the newest acknowledged snapshot. Rewriting a thread removes its snapshot. */
const newestSnapshot = (notes: readonly Note[]): number | undefined =>
  notes.slice(notes.findLastIndex(({ type }) => type === "rewriting") + 1).findLast((note) => note.type === "snapshot")
    ?.number;

const inboxProblems = async (store: Store, threadId: string, notes: readonly Note[]): Promise<readonly string[]> => {
  const known = new Map<string, EnvelopeState>();
  for (const note of notes) {
    if (!("envelopeId" in note)) continue;
    if (note.type === "discarding" || note.type === "discarded" || known.get(note.envelopeId) !== "discarding")
      known.set(note.envelopeId, note.type);
  }
  const problems = await envelopeProblems(store, threadId, known);
  const found = (await unansweredIn(store.inbox, threadId)).map(({ id }) => id).filter((id) => known.has(id));
  const posted = [...known.keys()].filter((id) => found.includes(id));
  return posted.join() === found.join() ? problems : [...problems, `envelopes are out of order: ${found.join()}`];
};

/** The lease of the dead process expires. Then the next appends continue at the end of the journal. */
const appendProblems = async (
  store: Store,
  threadId: string,
  length: number,
  added: Note[],
): Promise<readonly string[]> => {
  const lease = await soon(() => store.acquire(threadId, "checker", 1000));
  if (lease === null) return ["the lease can't be taken"];
  const entries = [length, length + 1].map((seq) => entryOf(threadId, seq, `checker ${length}`, 100));
  await store.append(lease, length - 1, entries);
  await store.release(lease);
  const found = await store.read(threadId, length);
  for (const entry of entries)
    added.push({ type: "appended", threadId, seq: entry.seq, digest: digestIn(entry) ?? "" });
  return JSON.stringify(found) === JSON.stringify(entries) ? [] : [`what was appended next is not there`];
};

const soon = async (take: () => Promise<Lease | null>): Promise<Lease | null> => {
  for (let tries = 0; tries < 200; tries += 1) {
    const lease = await take();
    if (lease !== null) return lease;
    await delay(10);
  }
  return null;
};
