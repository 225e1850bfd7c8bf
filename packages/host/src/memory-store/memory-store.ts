import type { Entry, JsonObject } from "@colloquy/machine";
import { checkOptions, kinds } from "../boundary/option-kinds.ts";
import type { Clock } from "../ports/clock.ts";
import { disposable } from "../ports/disposable.ts";
import { factsOf, type ListOptions, pageOfThreads, type StoredThread, type ThreadPage } from "../ports/listing.ts";
import { checkTtl, noSuchEntry, refuseGaps } from "../ports/store-arguments.ts";
import { type SearchOptions, type SearchPage, pageOfHits } from "../ports/searching.ts";
import {
  type Inbox,
  type Lease,
  LeaseLostError,
  type PartLog,
  SequenceConflictError,
  type SnapshotDraft,
  type Store,
  type StoredSnapshot,
  type StoredPartBatch,
} from "../ports/store.ts";

/**
 * A store that lives as long as the process. It keeps entries frozen or as JSON text, so that nobody can change them. A
 * read returns the same values as from any other store. An append is complete when the call returns. A search reads all
 * entries.
 *
 * @throws ConfigurationError for options that are invalid.
 */
export const memoryStore = (options: { readonly clock: Clock }): Store & AsyncDisposable => {
  checkOptions("memoryStore", options, { clock: kinds.needed(kinds.anything) });
  return disposable(new MemoryStore(options.clock));
};

class MemoryStore implements Store {
  readonly inbox: Inbox;
  readonly parts: PartLog;
  readonly #clock: Clock;
  readonly #journals = new Map<string, StoredJournal>();
  readonly #grants = new Map<string, Grant>();
  readonly #snapshots = new Map<string, KeptSnapshot>();
  readonly #items = new Map<string, Map<string, KeptItem>>();
  readonly #batches = new Map<string, readonly KeptBatch[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
    const check = (lease: Lease): void => this.#check(lease);
    this.inbox = memoryInbox(this.#items, check);
    this.parts = memoryPartLog(this.#batches, check);
  }

  async acquire(threadId: string, owner: string, ttlMs: number): Promise<Lease | null> {
    const until = this.#endOf(ttlMs);
    const grant = this.#grants.get(threadId);
    if (grant !== undefined && grant.until > this.#clock.now() && grant.owner !== owner) return null;
    const token = (grant?.token ?? 0) + 1;
    this.#grants.set(threadId, { owner, token, until });
    return { threadId, owner, token };
  }

  async renew(lease: Lease, ttlMs: number): Promise<boolean> {
    const until = this.#endOf(ttlMs);
    const grant = this.#grants.get(lease.threadId);
    // One that ran out and was not taken is still its holder's to prolong.
    if (grant?.token !== lease.token || grant.until === givenBack) return false;
    this.#grants.set(lease.threadId, { ...grant, until });
    return true;
  }

  async release({ threadId, token }: Lease): Promise<void> {
    if (this.#grants.get(threadId)?.token === token) this.#giveBack(threadId);
  }

  async abandoned(): Promise<readonly string[]> {
    const now = this.#clock.now();
    return [...this.#grants].flatMap(([threadId, { until }]) => (until !== givenBack && until <= now ? threadId : []));
  }

  append(lease: Lease, expectedSeq: number, entries: readonly Entry[]): void | Promise<void> {
    try {
      this.#append(lease, expectedSeq, entries);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  #append(lease: Lease, expectedSeq: number, entries: readonly Entry[]): void {
    const { threadId } = lease;
    this.#check(lease);
    const journal = this.#journals.get(threadId) ?? { entries: [], createdAt: 0, metadata: "{}" };
    const seq = journal.entries.length - 1;
    if (seq !== expectedSeq) throw new SequenceConflictError(threadId, expectedSeq, seq);
    refuseGaps(threadId, expectedSeq, entries);
    const added = entries.map(keptEntry);
    if (added.length > 0) this.#journals.set(threadId, journal);
    journal.entries.push(...added);
    if (entries.some(({ event: { type } }) => type === "thread.started" || type === "metadata.changed"))
      keepFacts(journal, entries);
  }

  async read(threadId: string, fromSeq: number = 0): Promise<readonly unknown[]> {
    const { entries } = this.#journals.get(threadId) ?? { entries: [] };
    return entries.slice(Math.max(fromSeq, 0)).map(copyOf);
  }

  async rewrite(lease: Lease, entries: readonly Entry[]): Promise<void> {
    this.#check(lease);
    const { threadId } = lease;
    const journal = this.#journals.get(threadId);
    const stranger = entries.find(({ seq }) => journal?.entries[seq] === undefined);
    if (stranger !== undefined) throw noSuchEntry(threadId, stranger.seq);
    if (journal === undefined) return;
    const changed = entries.map((entry) => ({ seq: entry.seq, kept: keptEntry(entry) }));
    for (const { seq, kept } of changed) journal.entries[seq] = kept;
    keepFacts(journal, entriesOf(journal));
    this.#snapshots.delete(threadId);
    this.#batches.delete(threadId);
  }

  async saveSnapshot(lease: Lease, { head, chunks, dropped }: SnapshotDraft): Promise<void> {
    this.#check(lease);
    const kept = this.#snapshots.get(lease.threadId) ?? { head, chunks: new Map<string, string>() };
    for (const [id, text] of chunks) kept.chunks.set(id, text);
    for (const id of dropped) kept.chunks.delete(id);
    kept.head = head;
    this.#snapshots.set(lease.threadId, kept);
  }

  async readSnapshot(threadId: string): Promise<StoredSnapshot | null> {
    const kept = this.#snapshots.get(threadId);
    return kept === undefined ? null : { head: kept.head, chunk: (id) => kept.chunks.get(id) };
  }

  async list(options: ListOptions = {}): Promise<ThreadPage> {
    return pageOfThreads(() => [...this.#journals].map(threadOf), options);
  }

  async search(words: string, options: SearchOptions = {}): Promise<SearchPage> {
    const threads = [...this.#journals].map(([threadId, journal]) => ({
      threadId,
      createdAt: journal.createdAt,
      entries: entriesOf(journal),
    }));
    return pageOfHits(threads, words, options);
  }

  async delete(threadId: string, lease?: Lease): Promise<boolean> {
    if (lease !== undefined) this.#check(lease);
    this.#giveBack(threadId);
    this.#snapshots.delete(threadId);
    this.#items.delete(threadId);
    this.#batches.delete(threadId);
    return this.#journals.delete(threadId);
  }

  async close(): Promise<void> {}

  #endOf(ttlMs: number): number {
    checkTtl(ttlMs);
    return this.#clock.now() + ttlMs;
  }

  #check(lease: Lease): void {
    const grant = this.#grants.get(lease.threadId);
    if (grant?.token !== lease.token || grant.until <= this.#clock.now()) throw new LeaseLostError(lease);
  }

  /** The token stays known: the next one is greater. */
  #giveBack(threadId: string): void {
    const grant = this.#grants.get(threadId);
    if (grant !== undefined) this.#grants.set(threadId, { ...grant, until: givenBack });
  }
}

interface StoredJournal {
  /** The entries, each at the index of its seq. */
  readonly entries: KeptEntry[];
  createdAt: number;
  /** As JSON text, so that it can't be changed. */
  metadata: string;
}

interface KeptSnapshot {
  head: string;
  readonly chunks: Map<string, string>;
}

interface Grant {
  readonly owner: string;
  readonly token: number;
  readonly until: number;
}

/** Before any time of any clock. */
const givenBack = -Infinity;

const keepFacts = (journal: StoredJournal, entries: readonly Entry[]): void => {
  const { createdAt, metadata } = factsOf(entries);
  if (createdAt !== undefined) journal.createdAt = createdAt;
  if (metadata !== undefined) journal.metadata = JSON.stringify(metadata);
};

/** An entry that is deeply frozen, as the machine's are, is kept as it is; any other is kept as JSON text. */
type KeptEntry = Entry | string;

const keptEntry = (entry: Entry): KeptEntry => (isFrozen(entry) ? entry : JSON.stringify(entry));

/** Returns whether a value is deeply frozen and JSON can express it. */
const isFrozen = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return typeof value !== "bigint";
  if (!Object.isFrozen(value)) return false;
  // Cast: each member is unknown.
  const members = value as { readonly [name: string]: unknown };
  for (const name in members) if (!isFrozen(members[name])) return false;
  return true;
};

/** Returns a copy that is equal to the one that any other store returns. */
const copyOf = (kept: KeptEntry): unknown => JSON.parse(typeof kept === "string" ? kept : JSON.stringify(kept));

/** Returns a kept entry, for use within the store. Cast: `append` and `rewrite` keep only entries. */
const entryOf = (kept: KeptEntry): Entry => (typeof kept === "string" ? (JSON.parse(kept) as Entry) : kept);

const entriesOf = ({ entries }: StoredJournal): readonly Entry[] => entries.map(entryOf);

const threadOf = ([threadId, { entries, createdAt, metadata }]: readonly [string, StoredJournal]): StoredThread => ({
  threadId,
  seq: entries.length - 1,
  createdAt,
  updatedAt: entryOf(entries.at(-1) ?? "").event.at,
  metadata: JSON.parse(metadata) as JsonObject,
});

/** A log of parts that lives as long as the process. `check` throws for a lease that is not in force. */
const memoryPartLog = (batches: Map<string, readonly KeptBatch[]>, check: (lease: Lease) => void): PartLog => {
  const keptAt = (threadId: string, now: number): readonly KeptBatch[] =>
    (batches.get(threadId) ?? []).filter(({ until }) => until > now);
  return {
    append: async (lease, { number, turn, body, at, until }) => {
      check(lease);
      const { threadId, token } = lease;
      batches.set(threadId, [...keptAt(threadId, at), { token, number, turn, body, until }]);
    },
    read: async (threadId, { at, after, turn }) =>
      keptAt(threadId, at)
        .filter((batch) => turn === undefined || batch.turn === turn)
        .filter((batch) => after === null || isBehind(batch, after))
        .map(({ until: _, ...batch }) => batch),
  };
};

interface KeptBatch extends StoredPartBatch {
  readonly until: number;
}

const isBehind = ({ token, number }: KeptBatch, after: { readonly token: number; readonly number: number }): boolean =>
  token > after.token || (token === after.token && number > after.number);

/** An inbox that lives as long as the process. `check` throws for a lease that is not in force. */
const memoryInbox = (items: Map<string, Map<string, KeptItem>>, check: (lease: Lease) => void): Inbox => {
  const of = (threadId: string): ReadonlyMap<string, KeptItem> => items.get(threadId) ?? new Map();
  return {
    post: async (threadId, item) => {
      const there = items.get(threadId) ?? new Map<string, KeptItem>();
      if (!there.has(item.id)) there.set(item.id, { text: JSON.stringify(item), answer: null });
      items.set(threadId, there);
    },
    unanswered: async (threadId) =>
      [...of(threadId).values()].flatMap(({ text }): readonly unknown[] => (text === null ? [] : [JSON.parse(text)])),
    waiting: async () =>
      [...items].flatMap(([threadId, there]) =>
        [...there.values()].some(({ text }) => text !== null) ? threadId : [],
      ),
    answer: async (lease, answers) => {
      check(lease);
      const there = items.get(lease.threadId);
      for (const answer of answers) {
        if (there?.get(answer.id)?.answer === null)
          there.set(answer.id, { text: null, answer: JSON.stringify(answer) });
      }
    },
    answerTo: async (threadId, itemId) => {
      const answer = of(threadId).get(itemId)?.answer ?? null;
      return answer === null ? null : (JSON.parse(answer) as unknown);
    },
    discard: async (threadId, itemId) => {
      const there = items.get(threadId);
      there?.delete(itemId);
      if (there?.size === 0) items.delete(threadId);
    },
  };
};

/** One of the two is there, as JSON text: the inbox item, or what became of it. */
interface KeptItem {
  readonly text: string | null;
  readonly answer: string | null;
}
