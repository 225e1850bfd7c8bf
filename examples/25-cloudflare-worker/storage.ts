import type { Entry, JsonObject } from "@colloquy/machine";
import {
  type Clock,
  type ListOptions,
  StorageError,
  type Store,
  systemClock,
  type ThreadPage,
} from "@colloquy/runtime-browser";
import {
  checkTtl,
  factsOf,
  type Lease,
  LeaseLostError,
  noSuchEntry,
  pageOfThreads,
  refuseGaps,
  SequenceConflictError,
  type SnapshotDraft,
  type StoredSnapshot,
} from "@colloquy/host/store";

/** The part of a Durable Object's storage that is used here. It must have SQL (`new_sqlite_classes`). */
export interface ObjectStorage {
  readonly sql: {
    exec(
      query: string,
      ...values: readonly (string | number)[]
    ): { toArray(): readonly Readonly<Record<string, unknown>>[] };
  };
  transactionSync<Result>(work: () => Result): Result;
}

/**
 * Keeps the threads of a Durable Object in its storage. No other object uses it, so leases live in memory, and those of
 * its predecessor are free. Only the tokens are stored, as each must be greater than all earlier ones, and which threads
 * are leased, as their holder may die.
 *
 * Nothing waits for the disk here: the platform holds back what an object sends until its earlier writes are durable.
 */
export class ObjectStore implements Store {
  readonly #storage: ObjectStorage;
  readonly #clock: Clock;
  readonly #grants = new Map<string, Grant>();

  constructor(storage: ObjectStorage, clock: Clock = systemClock) {
    this.#storage = storage;
    this.#clock = clock;
    for (const table of tables) storage.sql.exec(`CREATE TABLE IF NOT EXISTS ${table} WITHOUT ROWID`);
  }

  async acquire(threadId: string, owner: string, ttlMs: number): Promise<Lease | null> {
    checkTtl(ttlMs);
    const now = this.#clock.now();
    const grant = this.#grants.get(threadId);
    if (grant !== undefined && grant.until > now && grant.owner !== owner) return null;
    const [row] = this.#rows(
      threadId,
      "INSERT INTO tokens VALUES (?, 1) ON CONFLICT DO UPDATE SET token = token + 1 RETURNING token",
    );
    const token = Number(row?.["token"]);
    this.#rows(threadId, "INSERT OR IGNORE INTO leased VALUES (?)");
    this.#grants.set(threadId, { owner, token, until: now + ttlMs });
    return { threadId, owner, token };
  }

  async renew({ threadId, token }: Lease, ttlMs: number): Promise<boolean> {
    checkTtl(ttlMs);
    const grant = this.#grants.get(threadId);
    if (grant?.token !== token) return false;
    this.#grants.set(threadId, { ...grant, until: this.#clock.now() + ttlMs });
    return true;
  }

  async release({ threadId, token }: Lease): Promise<void> {
    if (this.#grants.get(threadId)?.token === token) this.#giveBack(threadId);
  }

  async abandoned(): Promise<readonly string[]> {
    const leased = this.#storage.sql.exec("SELECT thread FROM leased").toArray();
    const now = this.#clock.now();
    const isHeld = (threadId: string): boolean => (this.#grants.get(threadId)?.until ?? now) > now;
    return leased.map(({ thread }) => String(thread)).filter((threadId) => !isHeld(threadId));
  }

  async append(lease: Lease, expectedSeq: number, entries: readonly Entry[]): Promise<void> {
    this.#check(lease);
    const { threadId } = lease;
    const before = this.#factsOf(threadId);
    const seq = before?.seq ?? -1;
    if (seq !== expectedSeq) throw new SequenceConflictError(threadId, expectedSeq, seq);
    refuseGaps(threadId, expectedSeq, entries);
    if (entries.length === 0) return;
    this.#storage.transactionSync(() => {
      for (const entry of entries) this.#put(threadId, "entry", nameOf(entry.seq), JSON.stringify(entry));
      this.#keepFacts(threadId, { ...none, ...before, ...factsOf(entries), seq: seq + entries.length });
    });
  }

  async read(threadId: string, fromSeq: number = 0): Promise<readonly unknown[]> {
    return this.#entries(threadId, fromSeq);
  }

  async rewrite(lease: Lease, entries: readonly Entry[]): Promise<void> {
    this.#check(lease);
    const { threadId } = lease;
    const facts = { ...none, ...this.#factsOf(threadId) };
    const stranger = entries.find(({ seq }) => !(Number.isInteger(seq) && seq >= 0 && seq <= facts.seq));
    if (stranger !== undefined) throw noSuchEntry(threadId, stranger.seq);
    if (entries.length === 0) return;
    this.#storage.transactionSync(() => {
      for (const entry of entries) this.#put(threadId, "entry", nameOf(entry.seq), JSON.stringify(entry));
      this.#keepFacts(threadId, { ...facts, ...factsOf(this.#entries(threadId, 0)) });
      this.#rows(threadId, "DELETE FROM texts WHERE thread = ? AND kind IN ('head', 'chunk')");
    });
  }

  async saveSnapshot(lease: Lease, { head, chunks, dropped }: SnapshotDraft): Promise<void> {
    this.#check(lease);
    const { threadId } = lease;
    this.#storage.transactionSync(() => {
      this.#put(threadId, "head", "", head);
      for (const [id, text] of chunks) this.#put(threadId, "chunk", id, text);
      for (const id of dropped) this.#drop(threadId, "chunk", id);
    });
  }

  async readSnapshot(threadId: string): Promise<StoredSnapshot | null> {
    const head = this.#get(threadId, "head", "");
    return head === undefined ? null : { head, chunk: (id) => this.#get(threadId, "chunk", id) };
  }

  async list(options: ListOptions = {}): Promise<ThreadPage> {
    const rows = this.#storage.sql.exec("SELECT DISTINCT thread FROM texts WHERE kind = 'facts'").toArray();
    const threadIds = rows.map(({ thread }) => String(thread));
    return pageOfThreads(
      () => threadIds.map((threadId) => ({ threadId, ...none, ...this.#factsOf(threadId) })),
      options,
    );
  }

  async delete(threadId: string, lease?: Lease): Promise<boolean> {
    if (lease !== undefined) this.#check(lease);
    const isThere = this.#factsOf(threadId) !== undefined;
    this.#giveBack(threadId);
    this.#rows(threadId, "DELETE FROM texts WHERE thread = ? AND kind IN ('entry', 'facts', 'head', 'chunk')");
    return isThere;
  }

  async close(): Promise<void> {}

  #giveBack(threadId: string): void {
    this.#grants.delete(threadId);
    this.#rows(threadId, "DELETE FROM leased WHERE thread = ?");
  }

  /** @throws LeaseLostError */
  #check(lease: Lease): void {
    const grant = this.#grants.get(lease.threadId);
    if (grant?.token !== lease.token || grant.until <= this.#clock.now()) throw new LeaseLostError(lease);
  }

  /** The casts here and below are true, as only this class writes these texts. */
  #entries(threadId: string, fromSeq: number): readonly Entry[] {
    return [...this.#texts(threadId, "entry", nameOf(Math.max(fromSeq, 0)), "~").values()].map(
      (text) => JSON.parse(text) as Entry,
    );
  }

  #factsOf(threadId: string): Facts | undefined {
    const text = this.#get(threadId, "facts", "");
    return text === undefined ? undefined : (JSON.parse(text) as Facts);
  }

  #keepFacts(threadId: string, facts: Facts): void {
    this.#put(threadId, "facts", "", JSON.stringify(facts));
  }

  #get(threadId: string, kind: Kind, name: string): string | undefined {
    return this.#texts(threadId, kind, name, name).get(name);
  }

  /** Returns the texts of a kind by name, from one name to another. */
  #texts(threadId: string, kind: Kind, from: string, to: string): ReadonlyMap<string, string> {
    const texts = new Map<string, string>();
    const where = "thread = ? AND kind = ? AND name BETWEEN ? AND ?";
    for (const { name, text } of this.#rows(
      threadId,
      `SELECT name, text FROM texts WHERE ${where} ORDER BY name, piece`,
      kind,
      from,
      to,
    ))
      texts.set(String(name), (texts.get(String(name)) ?? "") + String(text));
    return texts;
  }

  #put(threadId: string, kind: Kind, name: string, text: string): void {
    this.#drop(threadId, kind, name);
    for (const [piece, part] of piecesOf(text).entries())
      this.#rows(threadId, "INSERT INTO texts VALUES (?, ?, ?, ?, ?)", kind, name, piece, part);
  }

  #drop(threadId: string, kind: Kind, name: string): void {
    this.#rows(threadId, "DELETE FROM texts WHERE thread = ? AND kind = ? AND name = ?", kind, name);
  }

  /**
   * Runs a statement whose first value is the thread, and returns its rows.
   * @throws StorageError for an id that SQL would change
   */
  #rows(
    threadId: string,
    query: string,
    ...values: readonly (string | number)[]
  ): readonly Readonly<Record<string, unknown>>[] {
    if (!threadId.isWellFormed())
      throw new StorageError("invalid-id", `the id ${JSON.stringify(threadId)} is no well-formed text`);
    return this.#storage.sql.exec(query, threadId, ...values).toArray();
  }
}

const tables = [
  "texts (thread TEXT, kind TEXT, name TEXT, piece INTEGER, text TEXT, PRIMARY KEY (kind, thread, name, piece))",
  "tokens (thread TEXT PRIMARY KEY, token INTEGER)",
  "leased (thread TEXT PRIMARY KEY)",
];

type Kind = "entry" | "facts" | "head" | "chunk";

/** The facts that a listing shows. */
interface Facts {
  readonly seq: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly metadata: JsonObject;
}

const none: Facts = { seq: -1, createdAt: 0, updatedAt: 0, metadata: {} };

interface Grant {
  readonly owner: string;
  readonly token: number;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Returns a name that sorts in the order of the seqs. */
const nameOf = (seq: number): string => String(seq).padStart(12, "0");

/** Cuts a text into pieces of one megabyte at most, never within a character. A row takes two. */
const piecesOf = (text: string): readonly string[] => text.match(/[^]{1,250000}/gu) ?? [""];
