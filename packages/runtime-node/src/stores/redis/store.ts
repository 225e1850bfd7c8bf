import type { Clock, Store } from "@colloquy/host";
import {
  checkTtl,
  disposable,
  type Inbox,
  kinds,
  type Lease,
  LeaseLostError,
  metadataIn,
  noSuchEntry,
  type PartLog,
  refuseGaps,
  refuseUnknownEntries,
  SequenceConflictError,
  type SnapshotDraft,
  type StoredSnapshot,
  inboxAnswerOf,
  inboxItemOf,
} from "@colloquy/host/store";
import type { Entry } from "@colloquy/machine";
import { refuseUnstorable } from "../store-arguments.ts";
import { checkStoreOptions, serverStoreKinds } from "../store-options.ts";
import { connect, type Connection, type RedisClient } from "./connection.ts";
import { keysOf, listingKey, markOf, placeOf } from "./keys.ts";
import { list, readEntries } from "./listing.ts";
import { addMark, markedThreads, removeMarks } from "./marks.ts";
import * as scripts from "./scripts.ts";
import { fetchedSnapshot, fromStorable, serverLeaseTtlMs, toStorable } from "../servers.ts";

/** Either a connected `client` of the package `redis` or of a cluster, which its creator closes, or a `url`. */
export type RedisStoreOptions = RedisStoreSettings &
  (
    | { readonly client: RedisClient; readonly url?: never }
    | {
        /** Such as `redis://user:password@host:6379/0`, or `rediss:` for TLS. The store has its own connection. */
        readonly url: string;
        readonly client?: never;
      }
  );

export interface RedisStoreSettings {
  /** The prefix of all keys. Default `colloquy:`. */
  readonly prefix?: string;
  /**
   * The clock that ends leases. Default: the server's, so that the clocks of the processes do not matter. If you set
   * it, set it in every process, and keep the clocks roughly equal.
   */
  readonly clock?: Pick<Clock, "now">;
  /** How long a call waits for the server, in milliseconds, before it fails as `unreachable`. Default 10,000. */
  readonly timeoutMs?: number;
}

/** A store in a Redis database. */
export interface RedisStore extends Store {
  readonly inbox: Inbox;
  readonly parts: PartLog;
}

/**
 * Creates a store of journals in Redis 6.2 or newer, or in a cluster. Any number of processes may use it at once. It
 * needs the package `redis`. It cannot search.
 *
 * **The server determines how durable an acknowledged append is.** With `appendonly yes` and `appendfsync always` it
 * survives a power cut. With `everysec`, the default of `appendonly`, a crash of the machine or of Redis may lose the
 * last second. Without `appendonly`, it loses everything after the last dump. A replica that takes over may lack the
 * last moments in any case. If a once-only tool must not run twice, use `always`, or another store. Eviction must be
 * off: `maxmemory-policy noeviction`.
 *
 * Thread ids contain neither NUL nor lone surrogates, and have at most 1,000 characters. Calls throw `StorageError`.
 * While the server is down its kind is `unreachable`, and calls succeed again when it is back. An append that failed
 * this way may have arrived. Acquire the lease again, which voids the append if it is still on its way, and read.
 */
export const redisStore = (options: RedisStoreOptions): RedisStore & AsyncDisposable => {
  const known = { client: kinds.anything, url: kinds.anyText, prefix: prefixKind, ...serverStoreKinds } as const;
  checkStoreOptions<RedisStoreOptions>("redisStore", options, known, ["client", "url"]);
  const { client, url, prefix = "colloquy:", clock, timeoutMs = 10_000 } = options;
  const now = (): string => (clock === undefined ? "" : String(clock.now()));
  return storeOver(connect({ client, url, prefix, now, timeoutMs }));
};

/** By braces, a cluster decides where a key belongs. */
const prefixKind = kinds.word("a text without braces", (prefix) => !/[{}]/.test(String(prefix)));

const storeOver = (connection: Connection): RedisStore & AsyncDisposable => {
  const { name, prefix, now, run } = connection;
  return disposable({
    leaseTtlMs: serverLeaseTtlMs,
    acquire: (threadId, owner, ttlMs) => acquire(connection, threadId, owner, ttlMs),
    renew: async ({ threadId, token }, ttlMs) => {
      checkTtl(ttlMs);
      // The type that the script returns.
      const earlier = (await run(scripts.renew, keysOf(prefix, threadId), [token, ttlMs, now()])) as string | null;
      // A later end needs no write: `abandoned` finds it.
      if (earlier !== null && earlier !== "") await addMark(connection, "leased", markOf(threadId, token), earlier);
      return earlier !== null;
    },
    release: async ({ threadId, token }) => {
      const released = Number(await run(scripts.release, keysOf(prefix, threadId), [token])) === 1;
      if (released) await removeMarks(connection, "leased", [markOf(threadId, token)]);
    },
    abandoned: () => markedThreads(connection, "leased", scripts.leaseLeft),
    append: (lease, expectedSeq, entries) => append(connection, lease, expectedSeq, entries),
    read: (threadId, fromSeq = 0) => readEntries(connection, threadId, fromSeq),
    rewrite: (lease, entries) => rewrite(connection, lease, entries),
    saveSnapshot: (lease, snapshot) => saveSnapshot(connection, lease, snapshot),
    readSnapshot: async (threadId) => {
      refuseUnstorable(name, threadId);
      return readSnapshot(connection, threadId);
    },
    list: (options) => list(connection, options),
    inbox: redisInbox(connection),
    parts: redisParts(connection),
    delete: async (threadId, lease) => {
      refuseUnstorable(name, threadId);
      const dropped = await run(scripts.drop, keysOf(prefix, threadId), [lease?.token ?? "", now()]);
      // The types that the script returns.
      const [was, place, token, letterIds] = dropped as readonly [number, string, string, readonly string[]];
      if (lease !== undefined && was === scripts.lost) throw new LeaseLostError(lease);
      // If one of these fails, the next reader of the listing or the marks makes up for it.
      await Promise.all([
        place !== "" && run(scripts.strike, [listingKey(prefix)], [place]),
        token !== "" && removeMarks(connection, "leased", [markOf(threadId, token)]),
        removeMarks(connection, "posted", marksOf(threadId, letterIds)),
      ]);
      return was === 1;
    },
    close: connection.close,
  });
};

const acquire = async (
  connection: Connection,
  threadId: string,
  owner: string,
  ttlMs: number,
): Promise<Lease | null> => {
  checkTtl(ttlMs);
  const { name, prefix, now, run } = connection;
  refuseUnstorable(name, threadId);
  // The types that the script returns.
  const granted = (await run(scripts.acquire, keysOf(prefix, threadId), [toStorable(owner), ttlMs, now()])) as
    | readonly [string, string, string]
    | null;
  if (granted === null) return null;
  const [token, end, before] = granted;
  // After a crash here, the mark of the lease before still names the thread, or nothing was under way in it.
  await addMark(connection, "leased", markOf(threadId, token), end, markOf(threadId, before));
  return { threadId, owner, token: Number(token) };
};

const append = async (
  { prefix, now, run }: Connection,
  lease: Lease,
  expectedSeq: number,
  entries: readonly Entry[],
): Promise<void> => {
  const { threadId, token } = lease;
  refuseGaps(threadId, expectedSeq, entries);
  const bodies = entries.map((entry) => JSON.stringify(entry));
  const at = entries[0]?.event.at ?? 0;
  const updatedAt = entries.at(-1)?.event.at ?? 0;
  const said = metadataIn(entries);
  const place = placeOf({ createdAt: at, threadId }, token);
  // List it first: an unlisted thread would be lost, but a place without a thread is skipped.
  if (expectedSeq < 0 && bodies.length > 0) await run(scripts.enlist, [listingKey(prefix)], [0, place]);
  const values = [token, now(), expectedSeq, place, at, updatedAt, metadataText(said), said?.seq ?? -1, ...bodies];
  const newest = Number(await run(scripts.append, keysOf(prefix, threadId), values));
  if (newest === scripts.lost) throw new LeaseLostError(lease);
  if (newest !== expectedSeq) throw new SequenceConflictError(threadId, expectedSeq, newest);
};

const rewrite = async (connection: Connection, lease: Lease, entries: readonly Entry[]): Promise<void> => {
  refuseUnknownEntries(lease.threadId, entries);
  const values = entries.flatMap((entry) => [entry.seq, JSON.stringify(entry), metadataText(metadataIn([entry]))]);
  const missing = Number(await underLease(connection, lease, scripts.rewrite, values));
  if (missing >= 0) throw noSuchEntry(lease.threadId, missing);
};

/** Runs a script for the holder of a lease, which is given its token and the time first. Throws `LeaseLostError`. */
const underLease = async (
  { prefix, now, run }: Connection,
  lease: Lease,
  script: scripts.Script,
  values: readonly (string | number)[],
): Promise<unknown> => {
  const answer = await run(script, keysOf(prefix, lease.threadId), [lease.token, now(), ...values]);
  // A client may be set to read numbers as texts.
  if (Number(answer) === scripts.lost) throw new LeaseLostError(lease);
  return answer;
};

/** Serialises metadata; returns an empty text if there is none. */
const metadataText = (said: ReturnType<typeof metadataIn>): string =>
  said === null ? "" : JSON.stringify(said.metadata);

/** Creates a part log: a stream of batches. Redis deletes it when nothing has been added for a while. */
const redisParts = (connection: Connection): PartLog => ({
  append: async (lease, { number, turn, body, at, until }) => {
    await underLease(connection, lease, scripts.addParts, [number, turn, body, at, until]);
  },
  read: async (threadId, { at, after, turn }) => {
    const { name, prefix, run } = connection;
    refuseUnstorable(name, threadId);
    const from = after === null ? "-" : `(${after.token}-${after.number}`;
    // The types that the script returns.
    const found = (await run(scripts.readParts, keysOf(prefix, threadId), [
      from,
      at,
      turn ?? "",
    ])) as readonly (readonly [string, string, string])[];
    return found.map(([id, ofTurn, body]) => {
      const [token, number] = id.split("-");
      return { token: Number(token), number: Number(number), turn: Number(ofTurn), body };
    });
  },
});

/** Saves a snapshot as a whole or not at all. Throws `LeaseLostError`. */
const saveSnapshot = async (
  connection: Connection,
  lease: Lease,
  { seq, head, chunks, dropped }: SnapshotDraft,
): Promise<void> => {
  const texts = [...chunks].flat().map(toStorable);
  const values = [seq, toStorable(head), chunks.size, ...texts, ...dropped.map(toStorable)];
  await underLease(connection, lease, scripts.saveSnapshot, values);
};

const readSnapshot = async ({ prefix, run }: Connection, threadId: string): Promise<StoredSnapshot | null> => {
  const keys = keysOf(prefix, threadId);
  // The types that the scripts return: a text or nil; alternating ids and texts.
  const head = (await run(scripts.readSnapshot, keys, [])) as string | null;
  if (head === null) return null;
  return fetchedSnapshot(head, async (id, known) => {
    const script = id === null ? run(scripts.readChunks, keys, known) : run(scripts.readChunk, keys, [id]);
    const found = (await script) as readonly string[];
    return found.flatMap((each, index) => (index % 2 === 0 ? [[each, found[index + 1] ?? ""] as const] : []));
  });
};

/** Creates an inbox of items and answers by id, and the order of the unanswered items. */
const redisInbox = (connection: Connection): Inbox => {
  const { name, prefix, run } = connection;
  const keys = (threadId: string): readonly string[] => {
    refuseUnstorable(name, threadId);
    return keysOf(prefix, threadId);
  };
  return {
    post: async (threadId, letter) => {
      const id = toStorable(letter.id);
      const waits = Number(await run(scripts.post, keys(threadId), [id, JSON.stringify(letter)])) === 1;
      // Also if it was there already: the host that posted it may have died before this.
      if (waits) await addMark(connection, "posted", markOf(threadId, id), 0);
    },
    unanswered: async (threadId) => {
      // The type that the script returns.
      const letters = (await run(scripts.readLetters, keys(threadId), [])) as readonly (readonly [string, string])[];
      return letters.map(([id, letter]) => inboxItemOf(() => fromStorable(id), letter));
    },
    waiting: () => markedThreads(connection, "posted", scripts.letterLeft),
    answer: async (lease, answers) => {
      const ids = answers.map(({ id }) => toStorable(id));
      const values = answers.flatMap((answer, index) => [ids[index] ?? "", JSON.stringify(answer)]);
      await underLease(connection, lease, scripts.answer, values);
      await removeMarks(connection, "posted", marksOf(lease.threadId, ids));
    },
    answerTo: async (threadId, letterId) => {
      // The type that the script returns.
      const answer = (await run(scripts.readAnswer, keys(threadId), [toStorable(letterId)])) as string | null;
      return answer === null ? null : inboxAnswerOf(letterId, answer);
    },
    discard: async (threadId, letterId) => {
      const id = toStorable(letterId);
      const waited = Number(await run(scripts.discard, keys(threadId), [id])) === 1;
      if (waited) await removeMarks(connection, "posted", marksOf(threadId, [id]));
    },
  };
};

const marksOf = (threadId: string, ids: readonly string[]): readonly string[] => ids.map((id) => markOf(threadId, id));
