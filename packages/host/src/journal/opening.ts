import type { Entry, LaterEntry, State } from "@colloquy/machine";
import { foldEntry } from "@colloquy/machine/journal";
import {
  anchorOf,
  loadAll,
  loadMessages,
  type ReadSnapshot,
  readSnapshot,
  SnapshotDamagedError,
  StoredChunks,
} from "@colloquy/machine/storage";
import * as Either from "fp-ts/lib/Either.js";
import { ThreadUnknownError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import type { Lease } from "../ports/store.ts";
import { entryAt, foldedState, readFrom, readJournal } from "./read-journal.ts";
import { finishRedaction, withRedactions } from "./redaction.ts";
import { SnapshotReader } from "./snapshot-reader.ts";

/** A thread as it was found when it was opened. */
export interface Opened {
  readonly state: State;
  readonly newest: Entry;
  /** The newest entry that a valid snapshot in the store covers; -1 if there is none. */
  readonly snapshotSeq: number;
  /** The stored chunks of snapshots, useful or not. */
  readonly chunks: StoredChunks;
  /** Reads the older turns of the state. */
  readonly reader: SnapshotReader;
}

/** The extent of a state that is accessed, and so fetched first. */
export type Extent = "some" | "whole";

/**
 * Returns the state of a thread by its journal, fully loaded; null when the thread does not exist. Needs no lease.
 *
 * @throws JournalUnreadableError, StoreError
 */
export const load = (host: HostContext, threadId: string): Promise<State | null> =>
  lookAt(host, threadId, loadAll, "whole");

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
  const found = await opened(host, threadId, null);
  return found === null ? null : seenIn(host, found, see, extent);
};

/**
 * Returns a function's view of a state that was opened. If its snapshot cannot be read, the journal alone is used.
 * @throws as above
 */
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

/**
 * Opens a thread for the holder of its lease. First finishes a redaction that a crash interrupted.
 *
 * @throws JournalUnreadableError, StoreError, LeaseLostError
 */
export const openJournal = (host: HostContext, lease: Lease): Promise<Opened | null> =>
  opened(host, lease.threadId, lease);

/**
 * Returns the state by the journal alone.
 *
 * @throws JournalUnreadableError, StoreError, ThreadUnknownError
 */
export const loadWhole = async (host: HostContext, threadId: string): Promise<State> => {
  const entries = withRedactions(await readJournal(host, threadId));
  if (entries.length === 0) throw new ThreadUnknownError(threadId);
  return foldedState(threadId, entries);
};

const opened = async (host: HostContext, threadId: string, lease: Lease | null): Promise<Opened | null> => {
  const snapshot = await storedSnapshot(host, threadId);
  const { stored: chunks, reader } = snapshot ?? { stored: new StoredChunks(), reader: new SnapshotReader(null) };
  const short = snapshot === null ? null : await openedFrom(host, threadId, snapshot);
  if (short !== null) return { ...short, snapshotSeq: snapshot?.seq ?? -1, chunks, reader };
  const stored = await readJournal(host, threadId);
  const entries = lease === null ? withRedactions(stored) : await finishRedaction(host, lease, stored);
  const newest = entries.at(-1);
  return newest === undefined
    ? null
    : { state: foldedState(threadId, entries), newest, snapshotSeq: -1, chunks, reader };
};

/** A snapshot that was found, with the reader of its chunks. */
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

/**
 * Folds the entries after a snapshot into its state. Returns null if the whole journal must be read instead; it has
 * everything.
 */
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
    const present = await reader.over(() => withOpenTurn(later.reduce(withEntry, state)));
    return { state: present, newest: later.at(-1) ?? anchored };
  } catch (thrown) {
    host.observation.report(thrown, "snapshot");
    return null;
  }
};

const entriesFrom = async ({ store }: HostContext, threadId: string, seq: number): Promise<readonly Entry[]> =>
  (await readFrom(store, threadId, seq)).map((stored, index) => {
    const entry = entryAt(stored, seq + index);
    if (Either.isRight(entry)) return entry.right;
    throw unfit(threadId, entry.left);
  });

const withEntry = (state: State, entry: Entry): State =>
  // Only entry 0 starts a thread, and the entries after a snapshot were decoded as later ones.
  foldEntry(state, entry as LaterEntry);

/** Loads the open turn at once: every continuation and end of it reads it. */
const withOpenTurn = (state: State): State => {
  const { open } = state.context;
  if (open !== null) loadMessages(open);
  return state;
};

const unfit = (threadId: string, reason: string): Error =>
  new Error(`the snapshot of thread "${threadId}" is of no use, its journal is read instead: ${reason}`);
