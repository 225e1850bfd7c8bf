import type { Clock, ListOptions, SearchOptions, SearchPage, StoredThread, ThreadPage } from "@colloquy/host";
import {
  disposable,
  factsOf,
  type Inbox,
  type Lease,
  metadataIn,
  listedMetadata,
  noSuchEntry,
  pageOfHits,
  pageOfThreads,
  parseStored,
  type PartLog,
  checkOptions,
  kinds,
  refuseGaps,
  refuseUnknownEntries,
  SequenceConflictError,
  type SnapshotDraft,
  type Store,
  type StoredSnapshot,
  inboxAnswerOf,
  inboxItemOf,
} from "@colloquy/host/store";
import { type Entry } from "@colloquy/machine";
import { randomIds } from "../ports/ids.ts";
import { systemClock } from "../ports/clock.ts";
import { Database, ofThread, type Table, type ThreadRow, type Writing } from "./database.ts";
import { Leases } from "./leases.ts";
import { TabLock } from "./tab-lock.ts";
import type { TabLockManager } from "./tab-lock-manager.ts";

/** The options of the store. */
export interface IndexedDbStoreOptions {
  /** The name of the database, which is created if necessary. Default `"colloquy"`. */
  readonly name?: string;
  /** The clock by which leases expire. Default: the platform's. */
  readonly clock?: Clock;
  /**
   * The Web Locks by which tabs show that they are alive. Default: `navigator.locks`, if the page has it, as in secure
   * contexts. With null, or without them, the lease of a closed tab counts until it expires. All tabs of a database
   * must use the same setting.
   */
  readonly locks?: TabLockManager | null;
}

export interface IndexedDbStore extends Store, AsyncDisposable {
  /** Always present in this store. */
  readonly inbox: Inbox;
  /** Always present in this store. */
  readonly parts: PartLog;
  /**
   * Present if tabs have locks. It is longer than a hidden tab needs to renew a lease, since its timers fire once a
   * minute.
   */
  readonly leaseTtlMs?: number;
  /** Searches by reading everything. */
  search(words: string, options?: SearchOptions): Promise<SearchPage>;
}

/**
 * Makes a store of threads in a database of the browser, which all tabs of a site share. When the promise of an append
 * resolves, the entries are on the disk (`durability: "strict"`), as far as the browser guarantees that. The user may
 * delete the database, and without `navigator.storage.persist()` so may the browser.
 *
 * @throws ConfigurationError for invalid options.
 */
export const indexedDbStore = (options: IndexedDbStoreOptions = {}): IndexedDbStore => {
  checkOptions("indexedDbStore", options, { name: kinds.text, clock: kinds.anything, locks: lockManager });
  const { name = "colloquy", clock = systemClock, locks = locksOfPlatform() } = options;
  const lock = locks === null ? null : new TabLock(locks, `colloquy:${name}:`, randomIds.draw("owner"));
  const database = new Database(name);
  const store = new StoreInIndexedDb(database, new Leases(database, clock, lock));
  return disposable(lock === null ? store : Object.assign(store, { leaseTtlMs }));
};

const lockManager = kinds.of(
  "navigator.locks, null, or left out",
  (locks) => locks === null || kinds.having("", "request").fits(locks),
);

/** In milliseconds. A lease is renewed after a third of it; in a hidden tab, up to a minute later. */
const leaseTtlMs = 300_000;

/** Absent in an insecure context, and on old platforms. */
const locksOfPlatform = (): TabLockManager | null =>
  typeof navigator === "undefined" ? null : ((navigator as { readonly locks?: TabLockManager }).locks ?? null);

class StoreInIndexedDb implements Store {
  readonly inbox: Inbox;
  readonly parts: PartLog;
  readonly #database: Database;
  readonly #leases: Leases;

  constructor(database: Database, leases: Leases) {
    this.#database = database;
    this.#leases = leases;
    this.inbox = inboxOf(database, leases);
    this.parts = partLogOf(database, leases);
  }

  acquire(threadId: string, owner: string, ttlMs: number): Promise<Lease | null> {
    return this.#leases.acquire(threadId, owner, ttlMs);
  }

  renew(lease: Lease, ttlMs: number): Promise<boolean> {
    return this.#leases.renew(lease, ttlMs);
  }

  release(lease: Lease): Promise<void> {
    return this.#leases.release(lease);
  }

  abandoned(): Promise<readonly string[]> {
    return this.#leases.abandoned();
  }

  async append(lease: Lease, expectedSeq: number, given: readonly Entry[]): Promise<void> {
    const { threadId } = lease;
    // Copied now, because the caller may change them before the transaction begins.
    const entries = structuredClone(given);
    const texts = entries.map((entry) => JSON.stringify(entry));
    await this.#database.write(["leases", "threads", "entries"], async (writing) => {
      await this.#leases.check(writing, lease);
      const threads = writing.objectStore("threads");
      const there = await threads.get(threadId);
      const seq = there?.seq ?? -1;
      if (seq !== expectedSeq) throw new SequenceConflictError(threadId, expectedSeq, seq);
      refuseGaps(threadId, expectedSeq, entries);
      if (texts.length === 0) return;
      await putEntries(writing, threadId, entries, texts);
      await threads.put(rowOf(threadId, entries, there), threadId);
    });
  }

  async read(threadId: string, fromSeq: number = 0): Promise<readonly unknown[]> {
    const range = IDBKeyRange.bound([threadId, fromSeq], [threadId, []]);
    const texts = await this.#database.read(["entries"], (reading) => reading.objectStore("entries").getAll(range));
    return texts.map((text) => this.#parsed(threadId, text));
  }

  async rewrite(lease: Lease, given: readonly Entry[]): Promise<void> {
    const { threadId } = lease;
    const entries = structuredClone(given);
    const texts = entries.map((entry) => JSON.stringify(entry));
    await this.#database.write(["leases", ...derived, "threads", "entries"], async (writing) => {
      await this.#leases.check(writing, lease);
      refuseUnknownEntries(threadId, entries);
      const table = writing.objectStore("entries");
      for (const { seq } of entries)
        if ((await table.getKey([threadId, seq])) === undefined) throw noSuchEntry(threadId, seq);
      await putEntries(writing, threadId, entries, texts);
      // All entries, because an unchanged one may determine the present metadata.
      const all = (await table.getAll(ofThread(threadId))).map((text) => this.#parsed(threadId, text) as Entry);
      if (all.length > 0) await writing.objectStore("threads").put(rowOf(threadId, all, undefined), threadId);
      await forgetDerived(writing, threadId);
    });
  }

  saveSnapshot(lease: Lease, draft: SnapshotDraft): Promise<void> {
    return saveSnapshot(this.#database, this.#leases, lease, draft);
  }

  readSnapshot(threadId: string): Promise<StoredSnapshot | null> {
    return readSnapshot(this.#database, threadId);
  }

  async list(options: ListOptions = {}): Promise<ThreadPage> {
    // Checks the options before the database is used.
    pageOfThreads(() => [], options);
    const rows = await this.#database.read(["threads"], (reading) => reading.objectStore("threads").getAll());
    const threads = await Promise.all(
      rows.map(async (row): Promise<StoredThread> => ({
        ...row,
        metadata: await listedMetadata(row.metadata, () => this.read(row.threadId)),
      })),
    );
    return pageOfThreads(() => threads, options);
  }

  async search(words: string, options: SearchOptions = {}): Promise<SearchPage> {
    // Checks the options before the database is used.
    pageOfHits([], words, options);
    return pageOfHits(await this.#searched(options.threadId), words, options);
  }

  async delete(threadId: string, lease?: Lease): Promise<boolean> {
    const { wasThere, letGo } = await this.#database.write(
      ["leases", ...derived, "inbox", "threads", "entries"],
      async (writing) => {
        if (lease !== undefined) await this.#leases.check(writing, lease);
        const threads = writing.objectStore("threads");
        const wasThere = (await threads.get(threadId)) !== undefined;
        const letGo = await this.#leases.forget(writing, threadId);
        await forgetDerived(writing, threadId);
        await writing.objectStore("inbox").delete(ofThread(threadId));
        await writing.objectStore("entries").delete(ofThread(threadId));
        await threads.delete(threadId);
        return { wasThere, letGo };
      },
    );
    letGo();
    return wasThere;
  }

  /** Reads all threads, or one, in one transaction: one transaction for each would take ten times as long. */
  async #searched(threadId: string | undefined): Promise<Parameters<typeof pageOfHits>[0]> {
    const [rows, keys, texts] = await this.#database.read(["threads", "entries"], (reading) => {
      const [threads, entries] = [reading.objectStore("threads"), reading.objectStore("entries")];
      const range = threadId === undefined ? null : ofThread(threadId);
      return Promise.all([threads.getAll(threadId ?? null), entries.getAllKeys(range), entries.getAll(range)]);
    });
    const entriesOf = new Map<string, Entry[]>(rows.map((row) => [row.threadId, []]));
    for (const [index, text] of texts.entries()) {
      const [id = ""] = keys[index] ?? [];
      // Only `append` and `rewrite` write them.
      entriesOf.get(id)?.push(this.#parsed(id, text) as Entry);
    }
    return rows.map(({ threadId: id, createdAt }) => ({ threadId: id, createdAt, entries: entriesOf.get(id) ?? [] }));
  }

  #parsed(threadId: string, text: string): unknown {
    return parseStored(this.#database.label, text, `an entry of thread "${threadId}"`);
  }

  async close(): Promise<void> {
    this.#leases.close();
    this.#database.close();
  }
}

/** The tables that are derived from entries, and cleared when those change. */
const derived: readonly Table[] = ["heads", "chunks", "parts"];

const forgetDerived = async (writing: Writing, threadId: string): Promise<void> => {
  await forgetSnapshot(writing, threadId);
  await writing.objectStore("parts").delete(ofThread(threadId));
};

const putEntries = async (
  writing: Writing,
  threadId: string,
  entries: readonly Entry[],
  texts: readonly string[],
): Promise<void> => {
  const table = writing.objectStore("entries");
  await Promise.all(entries.map(({ seq }, index) => table.put(texts[index] ?? "", [threadId, seq])));
};

/** Returns a thread's row in listings after these entries were added. */
const rowOf = (threadId: string, entries: readonly Entry[], there: ThreadRow | undefined): ThreadRow => {
  const { createdAt, updatedAt } = factsOf(entries);
  const metadata = metadataIn(entries)?.metadata;
  return {
    threadId,
    seq: entries.at(-1)?.seq ?? there?.seq ?? -1,
    createdAt: createdAt ?? there?.createdAt ?? 0,
    updatedAt: updatedAt ?? there?.updatedAt ?? 0,
    metadata: metadata === undefined ? (there?.metadata ?? "{}") : JSON.stringify(metadata),
  };
};

/** Makes the log of shown parts, for callers that rejoin a turn in another tab. */
const partLogOf = (database: Database, leases: Leases): PartLog => ({
  append: async (lease, { number, turn, body, at, until }) => {
    const { threadId, token } = lease;
    const add = async (writing: Writing): Promise<void> => {
      await leases.check(writing, lease);
      const parts = writing.objectStore("parts");
      // Expired parts of all threads, because some threads may never be written again.
      for (const key of await parts.index("until").getAllKeys(IDBKeyRange.upperBound(at))) await parts.delete(key);
      await parts.put({ turn, body, until }, [threadId, token, number]);
    };
    // Parts are written ten times a second, and need not survive a power cut.
    await database.write(["leases", "parts"], add, "relaxed");
  },
  read: async (threadId, { at, after, turn }) => {
    const range =
      after === null
        ? ofThread(threadId)
        : IDBKeyRange.bound([threadId, after.token, after.number], [threadId, []], true);
    const [keys, rows] = await database.read(["parts"], (reading) => {
      const parts = reading.objectStore("parts");
      return Promise.all([parts.getAllKeys(range), parts.getAll(range)]);
    });
    return rows.flatMap(({ until, ...row }, index) => {
      const [, token, number] = keys[index] ?? [threadId, 0, 0];
      return until > at && (turn === undefined || row.turn === turn) ? [{ ...row, token, number }] : [];
    });
  },
});

/** Stores a snapshot, and deletes chunks that it no longer needs. */
const saveSnapshot = (database: Database, leases: Leases, lease: Lease, draft: SnapshotDraft): Promise<void> =>
  database.write(["leases", "heads", "chunks"], async (writing) => {
    await leases.check(writing, lease);
    const chunks = writing.objectStore("chunks");
    for (const [id, text] of draft.chunks) await chunks.put(text, [lease.threadId, id]);
    for (const id of draft.dropped) await chunks.delete([lease.threadId, id]);
    await writing.objectStore("heads").put(draft.head, lease.threadId);
  });

/** Reads the newest snapshot with all of its chunks, in one transaction so that they are consistent. */
const readSnapshot = (database: Database, threadId: string): Promise<StoredSnapshot | null> =>
  database.read(["heads", "chunks"], async (reading) => {
    const table = reading.objectStore("chunks");
    const [head, keys, texts] = await Promise.all([
      reading.objectStore("heads").get(threadId),
      table.getAllKeys(ofThread(threadId)),
      table.getAll(ofThread(threadId)),
    ]);
    if (head === undefined) return null;
    const chunks = new Map(keys.map(([, id], index) => [id, texts[index]]));
    return { head, chunk: (id) => chunks.get(id) };
  });

/** Deletes a snapshot, as part of a deletion or a `rewrite`. */
const forgetSnapshot = async (writing: Writing, threadId: string): Promise<void> => {
  await writing.objectStore("heads").delete(threadId);
  await writing.objectStore("chunks").delete(ofThread(threadId));
};

/** Makes the inbox in which tabs without a thread's lease post events for it. */
const inboxOf = (database: Database, leases: Leases): Inbox => ({
  post: async (threadId, item) => {
    const text = JSON.stringify(item);
    await database.write(["inbox", "counters"], async (writing) => {
      const items = writing.objectStore("inbox");
      if ((await items.get([threadId, item.id])) !== undefined) return;
      const counters = writing.objectStore("counters");
      const order = ((await counters.get("item")) ?? 0) + 1;
      await counters.put(order, "item");
      await items.put({ order, item: text, answer: null }, [threadId, item.id]);
    });
  },
  unanswered: async (threadId) => {
    const [keys, rows] = await database.read(["inbox"], (reading) => {
      const items = reading.objectStore("inbox");
      return Promise.all([items.getAllKeys(ofThread(threadId)), items.getAll(ofThread(threadId))]);
    });
    return rows
      .map((row, index) => ({ ...row, id: keys[index]?.[1] }))
      .sort((one, other) => one.order - other.order)
      .flatMap(({ id, item }) => (item === null ? [] : [inboxItemOf(() => id, item)]));
  },
  waiting: async () => {
    const [keys, rows] = await database.read(["inbox"], (reading) => {
      const items = reading.objectStore("inbox");
      return Promise.all([items.getAllKeys(), items.getAll()]);
    });
    return [...new Set(keys.flatMap(([threadId], index) => (rows[index]?.answer === null ? [threadId] : [])))];
  },
  answer: async (lease, answers) => {
    const texts = answers.map((answer): readonly [string, string] => [answer.id, JSON.stringify(answer)]);
    await database.write(["leases", "inbox"], async (writing) => {
      await leases.check(writing, lease);
      const items = writing.objectStore("inbox");
      for (const [id, answer] of texts) {
        const row = await items.get([lease.threadId, id]);
        if (row !== undefined && row.answer === null)
          await items.put({ order: row.order, item: null, answer }, [lease.threadId, id]);
      }
    });
  },
  answerTo: async (threadId, itemId) => {
    const row = await database.read(["inbox"], (reading) => reading.objectStore("inbox").get([threadId, itemId]));
    const answer = row?.answer ?? null;
    return answer === null ? null : inboxAnswerOf(itemId, answer);
  },
  discard: async (threadId, itemId) => {
    await database.write(["inbox"], (writing) => writing.objectStore("inbox").delete([threadId, itemId]));
  },
});
