import { setTimeout as delay } from "node:timers/promises";

import type { Lease, Store } from "@colloquy/host";

import { chunkText, digestIn, entryOf, type Head, letterOf, threadIds } from "../kit/contents.ts";
import type { Note } from "./notes.ts";

/** What a store holds after a kill. */
export interface Findings {
  /** Empty when all is as it should be. */
  readonly violations: readonly string[];
  readonly entries: number;
  /** What the checker itself appended, to see that it can. */
  readonly notes: readonly Note[];
}

/** Compares a store with what was acknowledged, and goes on writing. */
export const check = async (store: Store, notes: readonly Note[]): Promise<Findings> => {
  const violations: string[] = [];
  const added: Note[] = [];
  let entries = 0;
  for (const threadId of threadIds) {
    const told = notes.filter((note) => note.threadId === threadId);
    const before = await store.read(threadId);
    entries += before.length;
    const problems = [
      ...entryProblems(before, told),
      ...(await snapshotProblems(store, threadId, told)),
      ...(await letterProblems(store, threadId, told)),
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

const snapshotProblems = async (store: Store, threadId: string, notes: readonly Note[]): Promise<readonly string[]> => {
  // What is rewritten takes the snapshot with it.
  const rewritten = notes.findLastIndex(({ type }) => type === "rewriting");
  const last = notes.slice(rewritten + 1).findLast((note) => note.type === "snapshot");
  const snapshot = await store.readSnapshot(threadId);
  if (snapshot === null)
    return last === undefined ? [] : [`snapshot ${last.number} was acknowledged, and none is there`];
  // Nobody else writes heads.
  const head = JSON.parse(snapshot.head) as Head;
  const torn = head.chunks.filter((id) => snapshot.chunk(id) !== chunkText(id));
  return [
    ...(last !== undefined && head.number < last.number
      ? [`snapshot ${last.number} was acknowledged, and ${head.number} is there`]
      : []),
    ...torn.map((id) => `chunk ${id} of snapshot ${head.number} is missing or torn`),
  ];
};

const letterProblems = async (store: Store, threadId: string, notes: readonly Note[]): Promise<readonly string[]> => {
  const problems: string[] = [];
  const unanswered = ((await store.inbox?.unanswered(threadId)) ?? []) as readonly { readonly id: string }[];
  const waiting = new Set(unanswered.map(({ id }) => id));
  if (waiting.size < unanswered.length) problems.push("a letter is there twice");
  for (const letter of unanswered)
    if (JSON.stringify(letter) !== JSON.stringify(letterOf(letter.id))) problems.push(`letter ${letter.id} is torn`);
  const known = new Map<string, Note["type"]>();
  for (const note of notes) {
    if (!("letterId" in note)) continue;
    if (note.type === "discarding" || note.type === "discarded" || known.get(note.letterId) !== "discarding")
      known.set(note.letterId, note.type);
  }
  for (const [id, type] of known) {
    const answer = await store.inbox?.answerTo(threadId, id);
    if (type === "posted" && !waiting.has(id) && answer === null) problems.push(`letter ${id} is lost`);
    if (type === "answered" && (waiting.has(id) || answer === null))
      problems.push(`the answer to letter ${id} is lost`);
    if (type === "discarded" && (waiting.has(id) || answer !== null))
      problems.push(`letter ${id} was discarded, and is there`);
  }
  const posted = [...known.keys()].filter((id) => waiting.has(id));
  const found = unanswered.map(({ id }) => id).filter((id) => known.has(id));
  if (posted.join() !== found.join()) problems.push(`letters are out of order: ${found.join()}`);
  return problems;
};

/** The lease of the dead runs out; then the next appends go on where the journal ends. */
const appendProblems = async (
  store: Store,
  threadId: string,
  length: number,
  added: Note[],
): Promise<readonly string[]> => {
  const lease = await soon(() => store.acquire(threadId, "checker", 1000));
  if (lease === null) return [`nobody can take the lease`];
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
