import type { Entry, LaterEntry, State } from "@colloquy/machine";
import { foldEntry } from "@colloquy/machine/journal";
import {
  anchorOf,
  loadMessages,
  type ReadSnapshot,
  readSnapshot,
  SnapshotDamagedError,
  type StoredChunks,
} from "@colloquy/machine/storage";
import * as Either from "fp-ts/lib/Either.js";
import { ThreadUnknownError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import type { Lease } from "../ports/store.ts";
import { entryAt, foldedState, readJournal, finishRedaction, withRedactions } from "./read-journal.ts";
import { noSnapshot, SnapshotReader } from "./snapshot-reader.ts";

export interface Opened {
  readonly state: State;
  readonly newest: Entry;
  /** The newest entry that a valid snapshot in the store covers; -1 if there is none. */
  readonly snapshotSeq: number;
  /** Null if no snapshot was read. */
  readonly chunks: StoredChunks | null;
  readonly reader: SnapshotReader;
}

/** The extent of a state that is accessed, and so fetched first. */
export type Extent = "some" | "whole";

/**
 * Returns a pure function's view of the state; it may be called again. Null when the thread does not exist. Needs no
 * lease.
 *
 * @throws JournalUnreadableError, StoreError, errors of `see`
 */
export const lookAt = async <Seen>(
  host: HostContext,
  threadId: string,
  see: (state: State) => Seen,
  extent: Extent,
): Promise<Seen | null> => {
  const found = await openJournal(host, threadId, null);
  return found === null ? null : seenIn(host, found, see, extent);
};

/** Returns a view of a state that was opened. If its snapshot can't be read, the journal is used. @throws as above */
export const seenIn = async <Seen>(
  host: HostContext,
  { state, reader }: Pick<Opened, "state" | "reader">,
  see: (state: State) => Seen,
  extent: Extent,
): Promise<Seen> => {
  try {
    if (extent === "whole" && !reader.isWhole) await reader.fetch(null);
    return await reader.over(() => see(state));
  } catch (thrown) {
    if (!(thrown instanceof SnapshotDamagedError)) throw thrown;
    host.observation.report(thrown, "snapshot");
    return see(await loadWhole(host, state.context.threadId));
  }
};

/** Returns the state by the journal alone. @throws JournalUnreadableError, StoreError, ThreadUnknownError */
export const loadWhole = async (host: HostContext, threadId: string): Promise<State> => {
  const entries = withRedactions(await readJournal(host, threadId));
  if (entries.length === 0) throw new ThreadUnknownError(threadId);
  return foldedState(threadId, entries);
};

/**
 * Opens a thread. For the holder of its lease, first finishes a redaction that a crash interrupted.
 *
 * @throws JournalUnreadableError, StoreError, LeaseLostError
 */
export const openJournal = async (host: HostContext, threadId: string, lease: Lease | null): Promise<Opened | null> => {
  const snapshot = await storedSnapshot(host, threadId);
  const { stored: chunks, reader } = snapshot ?? { stored: null, reader: noSnapshot };
  const short = snapshot === null ? null : await openedFrom(host, threadId, snapshot);
  if (short !== null) return { ...short, snapshotSeq: snapshot?.seq ?? -1, chunks, reader };
  const stored = await readJournal(host, threadId);
  const entries = lease === null ? withRedactions(stored) : await finishRedaction(host, lease, stored);
  const newest = entries.at(-1);
  return newest === undefined
    ? null
    : { state: foldedState(threadId, entries), newest, snapshotSeq: -1, chunks, reader };
};

interface FoundSnapshot extends ReadSnapshot {
  readonly reader: SnapshotReader;
}

/** Returns the newest snapshot; null if there is none, or if it cannot be read, which is reported. */
const storedSnapshot = async (host: HostContext, threadId: string): Promise<FoundSnapshot | null> => {
  if (host.snapshotEvery === 0) return null;
  try {
    const stored = await host.store.readSnapshot(threadId);
    if (stored === null) return null;
    const reader = new SnapshotReader(stored);
    const read = await reader.over(() => readSnapshot(stored.head, reader.chunk));
    if (Either.isRight(read)) return { ...read.right, reader };
    throw unfit(threadId, read.left);
  } catch (thrown) {
    host.observation.report(thrown, "snapshot");
    return null;
  }
};

/** Folds the entries after a snapshot into its state; null if the whole journal must be read instead. */
const openedFrom = async (
  host: HostContext,
  threadId: string,
  { state, seq, anchor, reader }: FoundSnapshot,
): Promise<Pick<Opened, "state" | "newest"> | null> => {
  try {
    const [anchored, ...later] = await entriesFrom(host, threadId, seq);
    if (anchored === undefined || anchorOf(anchored) !== anchor)
      throw unfit(threadId, `entry ${seq} is not in the journal as it was`);
    if (state.context.threadId !== threadId) throw unfit(threadId, `it is of thread "${state.context.threadId}"`);
    // The snapshot may contain words that are about to be redacted.
    if (later.some(({ event }) => event.type === "thread.redacted")) return null;
    const present = await reader.over(() => {
      // Only entry 0 starts a thread, and these were decoded as later ones.
      const folded = later.reduce((before, entry) => foldEntry(before, entry as LaterEntry), state);
      // Every continuation and end of the open turn reads it.
      if (folded.context.open !== null) loadMessages(folded.context.open);
      return folded;
    });
    return { state: present, newest: later.at(-1) ?? anchored };
  } catch (thrown) {
    host.observation.report(thrown, "snapshot");
    return null;
  }
};

const entriesFrom = async ({ store }: HostContext, threadId: string, seq: number): Promise<readonly Entry[]> =>
  (await store.read(threadId, seq)).map((stored, index) => {
    const entry = entryAt(stored, seq + index);
    if (Either.isRight(entry)) return entry.right;
    throw unfit(threadId, entry.left);
  });

const unfit = (threadId: string, reason: string): Error =>
  new Error(`the snapshot of thread "${threadId}" is of no use, its journal is read instead: ${reason}`);
