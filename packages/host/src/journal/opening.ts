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

/** A thread as it is found when it is opened. */
export interface Opened {
  readonly state: State;
  readonly newest: Entry;
  /** The newest entry that a valid snapshot in the store covers; -1 for none. */
  readonly snapshotSeq: number;
  /** What the store has of snapshots, of use or not. */
  readonly chunks: StoredChunks;
  /** What the older turns of the state are read by. */
  readonly reader: SnapshotReader;
}

/** How much of a state is looked at: what is fetched of it before. */
export type Extent = "some" | "whole";

/**
 * The state of a thread by its journal, with nothing left in a store; null when there is none. Needs no lease.
 *
 * @throws JournalUnreadableError, StoreError
 */
export const load = (host: HostContext, threadId: string): Promise<State | null> =>
  lookAt(host, threadId, loadAll, "whole");

/**
 * What is seen of it, by something pure that may be done again; null when there is none. Needs no lease.
 *
 * @throws JournalUnreadableError, StoreError, what `see` throws
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

/** What is seen of a state, as far as it was read already. Where it can't be read, the journal alone is looked at. @throws as above */
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
 * The same for the holder of the lease: a redaction that a crash interrupted is finished before.
 *
 * @throws JournalUnreadableError, StoreError, LeaseLostError
 */
export const openJournal = (host: HostContext, lease: Lease): Promise<Opened | null> =>
  opened(host, lease.threadId, lease);

/**
 * The state by the journal alone.
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

/** A snapshot that was found, and what its chunks are read by. */
interface FoundSnapshot extends ReadSnapshot {
  readonly reader: SnapshotReader;
}

/** The newest snapshot; null where there is none, or one that can't be read, which is reported. */
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

/** A snapshot and the entries behind it, folded; null where the whole journal has to be read, which has all that it holds. */
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
    // What the snapshot covers may be about to be taken out of the journal.
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
  // Only entry 0 begins a thread, and the ones behind a snapshot were decoded as later ones.
  foldEntry(state, entry as LaterEntry);

/** The open turn is looked at wherever it goes on or ends, so it is read at once. */
const withOpenTurn = (state: State): State => {
  const { open } = state.context;
  if (open !== null) loadMessages(open);
  return state;
};

const unfit = (threadId: string, reason: string): Error =>
  new Error(`the snapshot of thread "${threadId}" is of no use, its journal is read instead: ${reason}`);
