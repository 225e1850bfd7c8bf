import type { Performer } from "@colloquy/host/perform";
import { withRedactions } from "@colloquy/host/store";
import type { Entry, LaterEntry, State } from "@colloquy/machine";
import { fold, foldEntry } from "@colloquy/machine/journal";
import { readSnapshot, SnapshotDamagedError, StoredChunks } from "@colloquy/machine/storage";
import {
  type InvocationId,
  type ObjectContext,
  type ObjectSharedContext,
  RestatePromise,
  TerminalError,
} from "@restatedev/restate-sdk";
import * as Either from "fp-ts/lib/Either.js";
import type { Page } from "./handlers.ts";
import type { Hub } from "./hub.ts";

/** The position of a thread: the one small value that each event reads and writes. */
export interface Place {
  /** The seq of the newest entry; -1 if the thread does not exist. */
  readonly seq: number;
  /** A random id of the newest entry's step. The state of a step that Restate did not record has another stamp. */
  readonly stamp: string;
  /** The seq of the newest entry in the snapshot; -1 without a snapshot. */
  readonly snapshotSeq: number;
  /** The effects under way, each with the invocation that performs it. */
  readonly out: { readonly [effectId: string]: InvocationId };
  /** The lease of a host that changes the journal directly. */
  readonly lease?: { readonly owner: string; readonly token: number; readonly until: number };
}

const noPlace: Place = { seq: -1, stamp: "", snapshotSeq: -1, out: {} };

export const placeOf = async (context: ObjectSharedContext): Promise<Place> =>
  (await context.get<Place>(placeKey)) ?? noPlace;

export const placeKey = "place";
export const entryKey = (seq: number): string => `entry ${seq}`;
const snapshotKey = "snapshot";
const chunkPrefix = "chunk ";

export const setEntries = (context: ObjectContext, entries: readonly Entry[]): void => {
  for (const entry of entries) context.set(entryKey(entry.seq), entry);
};

/** Replaces the snapshot. The chunks of the previous one stay, as their ids are derived from their contents. */
export const setSnapshot = (
  context: ObjectContext,
  snapshot: StoredHead,
  chunks: readonly (readonly [id: string, text: string])[],
): void => {
  for (const [id, text] of chunks) context.set(`${chunkPrefix}${id}`, text);
  context.set(snapshotKey, snapshot);
};

export const clearSnapshot = async (context: ObjectContext, place: Place): Promise<Place> => {
  for (const key of await context.stateKeys()) if (key.startsWith(chunkPrefix)) context.clear(key);
  context.clear(snapshotKey);
  return { ...place, snapshotSeq: -1 };
};

interface StoredHead {
  readonly seq: number;
  readonly head: string;
}

/** The state of a thread in a worker's memory, with its chunks of snapshots. */
export interface KnownThread {
  readonly state: State;
  readonly stored: StoredChunks;
  /** The texts of the chunks that were read, by id. */
  readonly texts: Map<string, string>;
}

/** A worker's cache of states: the newest two of each thread, by their stamps. */
export class KnownThreads {
  readonly #max: number;
  readonly #byThread = new Map<string, readonly (readonly [stamp: string, thread: KnownThread])[]>();

  constructor(max: number) {
    this.#max = max;
  }

  at(threadId: string, { stamp }: Pick<Place, "stamp">): KnownThread | undefined {
    return this.#byThread.get(threadId)?.find(([known]) => known === stamp)?.[1];
  }

  keep(threadId: string, stamp: string, thread: KnownThread): void {
    const others = (this.#byThread.get(threadId) ?? []).filter(([known]) => known !== stamp);
    this.#byThread.delete(threadId);
    this.#byThread.set(threadId, [...others.slice(-1), [stamp, thread]]);
    for (const [oldest] of this.#byThread) {
      if (this.#byThread.size <= this.#max) break;
      this.#byThread.delete(oldest);
    }
  }
}

/** The values that all handlers of a worker share. */
export interface WorkerContext {
  readonly performer: Performer;
  readonly hub: Hub;
  /** The Restate object that holds the threads. */
  readonly object: { readonly name: string };
  readonly known: KnownThreads;
  readonly snapshotEvery: number;
}

/**
 * Runs a durable step with the state of a thread. If the step lacks something, that is read and another step is run. Only
 * recorded results decide what is read, never the memory of this process, so that a replay in another one reads the same.
 *
 * @param act runs again until its step is recorded. Its result is plain JSON.
 * @param until awaits a step.
 */
export const withThread = async <Result>(
  { known }: WorkerContext,
  context: ObjectSharedContext,
  place: Place,
  label: string,
  act: (thread: KnownThread | null) => Result | Promise<Result>,
  until: Until = (step) => step,
): Promise<Result> => {
  if (place.seq < 0) return until(context.run(label, async () => act(null)));
  const texts = new Map<string, string>();
  let read: Read | null = null;
  for (let attempt = 1; ; attempt++) {
    const step = async (): Promise<Step<Result>> => {
      try {
        const thread = read === null ? known.at(context.key, place) : threadIn(read);
        if (thread === undefined) return { needs: journal };
        for (const [id, text] of texts) thread.texts.set(id, text);
        if (read?.seq === place.seq) known.keep(context.key, place.stamp, thread);
        return { done: await act(thread) };
      } catch (thrown) {
        if (thrown instanceof SnapshotDamagedError) return { needs: thrown.chunk };
        throw thrown;
      }
    };
    const result = await until(context.run(attempt === 1 ? label : `${label} ${attempt}`, step));
    if ("done" in result) return result.done;
    // A missing chunk belongs to a snapshot that was removed meanwhile. The journal has everything.
    if (result.needs === journal) read = await readThread(context, place, true);
    else if (!(await readChunk(context, attempt < singleChunksMax ? result.needs : null, texts)))
      read = await readThread(context, place, false);
  }
};

type Until = <Result>(step: RestatePromise<Result>) => Promise<Result>;

type Step<Result> = { readonly done: Result } | { readonly needs: string };

/** A step that needs the journal names it in place of a chunk. */
const journal = "journal";

/** After so many attempts, all chunks are read at once. */
const singleChunksMax = 2;

/** A thread as it is stored: a snapshot, and the entries after it. */
interface Read {
  readonly snapshot: string | null;
  readonly entries: readonly Entry[];
  readonly seq: number;
}

const readThread = async (context: ObjectSharedContext, place: Place, withSnapshot: boolean): Promise<Read> => {
  const snapshot = withSnapshot ? await context.get<StoredHead>(snapshotKey) : null;
  const from = snapshot === null ? 0 : snapshot.seq + 1;
  // A shared handler may find a snapshot that is newer than its place. It serves as well, but has another stamp.
  const seq = Math.max(place.seq, from - 1);
  return { snapshot: snapshot?.head ?? null, entries: await readEntries(context, from, place.seq), seq };
};

/** Reads the entries from one seq to another, both included. */
export const readEntries = async (
  context: ObjectSharedContext,
  from: number,
  to: number,
): Promise<readonly Entry[]> => {
  const seqs = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
  // These are promises of the SDK, which only its own combinators may join. Its types do not say so.
  const reads = seqs.map((seq) => context.get<Entry>(entryKey(seq)) as RestatePromise<Entry | null>);
  return (await RestatePromise.all(reads)).filter((entry) => entry !== null);
};

/** Reads as many entries as fit into one message, which Restate limits to 32 MiB, and at least one. */
export const readPage = async (context: ObjectSharedContext, from: number, to: number): Promise<Page> => {
  const page: Entry[] = [];
  let size = 0;
  // Each batch is twice as long: small entries take few round trips, and few large ones are read in vain.
  for (let seq = from, count = 8; seq <= to; seq += count, count *= 2) {
    for (const entry of await readEntries(context, seq, Math.min(to, seq + count - 1))) {
      size += sizeOf(entry);
      if (page.length > 0 && size > messageBytesMax) return { entries: page, isLast: false };
      page.push(entry);
    }
  }
  return { entries: page, isLast: true };
};

export const messageBytesMax = 8_000_000;

export const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Reads a chunk, or all chunks for null. Returns false if nothing new was found. */
const readChunk = async (
  context: ObjectSharedContext,
  id: string | null,
  texts: Map<string, string>,
): Promise<boolean> => {
  const before = texts.size;
  const ids =
    id === null
      ? (await context.stateKeys())
          .filter((key) => key.startsWith(chunkPrefix))
          .map((key) => key.slice(chunkPrefix.length))
      : [id];
  for (const chunk of ids) {
    const text = texts.has(chunk) ? null : await context.get<string>(`${chunkPrefix}${chunk}`);
    if (text !== null) texts.set(chunk, text);
  }
  return texts.size > before;
};

const threadIn = ({ snapshot, entries }: Read): KnownThread => {
  const texts = new Map<string, string>();
  if (snapshot === null) {
    const folded = fold(withRedactions(entries));
    if (Either.isLeft(folded)) throw unreadable(folded.left.reason);
    return { state: folded.right, stored: new StoredChunks(), texts };
  }
  const read = readSnapshot(snapshot, (id) => texts.get(id));
  if (Either.isLeft(read)) throw unreadable(read.left);
  const { state, stored } = read.right;
  // Only entry 0 starts a thread, and it is in the snapshot.
  return { state: entries.reduce((before, entry) => foldEntry(before, entry as LaterEntry), state), stored, texts };
};

/** Makes the error that ends an invocation for good, since no retry can help. */
export const unreadable = (reason: string): TerminalError => new TerminalError(`the journal can't be read: ${reason}`);
