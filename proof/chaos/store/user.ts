import { setTimeout as pause } from "node:timers/promises";

import type { Store } from "@colloquy/host";
import { type Lease, LeaseLostError, SequenceConflictError } from "@colloquy/host/store";
import type { Entry } from "@colloquy/machine";

import { isUnreachable, NeverEnds } from "../../kit/calls.ts";
import type { Random } from "../../kit/random.ts";
import type { Note } from "./book.ts";
import { unansweredIn } from "./check.ts";
import { chunkText, entryOf, type Head, headIn, itemOf, writtenIn } from "./contents.ts";

interface UserOptions {
  readonly store: Store;
  readonly owner: string;
  readonly threadIds: readonly string[];
  readonly random: Random;
  readonly note: (note: Note) => void;
  /** The user only appends, and releases each lease. Default: it does all that a host does. */
  readonly onlyAppends?: boolean;
  readonly deletes?: boolean;
  /** The length of the longest texts. Default 100,000. */
  readonly lengthMax?: number;
  /** The durations of leases, of which one is drawn. */
  readonly leasesMs: readonly number[];
  /** The store may lose leases, and start their tokens again. Default: false. */
  readonly forgetsLeases?: boolean;
  /** Draws a snapshot's number, larger than all before. */
  readonly nextNumber: () => number;
  /** Wraps each call of the store. Default: none. */
  readonly call?: <A>(name: string, work: () => Promise<A>) => Promise<A>;
}

/** A thread under the user's lease, and its content. */
interface Leased {
  readonly lease: Lease;
  readonly threadId: string;
  readonly journal: unknown[];
  last: string | null;
}

/** Uses a store as hosts do, and notes its actions and their acknowledgements. */
export class User {
  readonly #options: UserOptions;
  #drawn = 0;
  /** The posted items of each thread that may be discarded, and the one whose posting had no answer. */
  readonly #posted = new Map<string, string[]>();
  readonly #doubtful = new Map<string, string>();

  constructor(options: UserOptions) {
    this.#options = options;
  }

  /**
   * Takes the lease of a thread, reads it, and does some of a host's work. After a failure takes the lease again, which
   * voids calls under way. Returns false if another user has the lease.
   */
  async visit(threadId = this.#options.random.pick(this.#options.threadIds) ?? ""): Promise<boolean> {
    const { store, owner, random, leasesMs, onlyAppends = false } = this.#options;
    if (!onlyAppends && random.percent(50)) await this.#post(threadId);
    const lease = await this.#call("acquire", () => store.acquire(threadId, owner, random.pick(leasesMs) ?? 0));
    if (lease === null) return false;
    const journal = [...(await this.#call("read", () => store.read(threadId)))];
    const last = journal.length === 0 ? null : (writtenIn(threadId, journal.at(-1))?.tag ?? "nobody's");
    const leased: Leased = { lease, threadId, journal, last };
    for (let left = random.integer(1, 8); left > 0; left -= 1) await this.#write(leased);
    // Some leases are left to expire.
    if (onlyAppends || random.percent(80)) await this.#call("release", () => store.release(lease));
    return true;
  }

  async #write(leased: Leased): Promise<void> {
    const { store, random, leasesMs, onlyAppends = false, deletes = false } = this.#options;
    const choice = onlyAppends || leased.journal.length === 0 ? 0 : random.integer(1, 100);
    if (choice <= 50) await this.#append(leased);
    else if (choice <= 58) await this.#rewrite(leased);
    else if (choice <= 70) await this.#saveSnapshot(leased);
    else if (choice <= 78) await this.#answer(leased);
    else if (choice <= 84) await this.#discard(leased);
    else if (choice <= 92) await this.#post(leased.threadId);
    else if (choice <= 95 && deletes) await this.#delete(leased);
    else if (choice <= 98) await this.#call("list", () => store.list());
    else await this.#call("renew", () => store.renew(leased.lease, leasesMs[0] ?? 0));
  }

  async #append(leased: Leased): Promise<void> {
    const { random, note, owner, forgetsLeases = false } = this.#options;
    const { threadId, lease, journal } = leased;
    const count = random.percent(70) ? 1 : random.integer(2, 5);
    const drawn = Array.from({ length: count }, (_, index) => ({
      seq: journal.length + index,
      tag: `${owner}/${forgetsLeases ? 0 : lease.token}/${(this.#drawn += 1)}`,
      version: 0,
      length: this.#length(),
    }));
    const entries = drawn.map(({ seq, tag }, index) => ({ seq, tag, after: drawn[index - 1]?.tag ?? leased.last }));
    note({ type: "appending", threadId, entries });
    await this.#appendAll(
      leased,
      drawn.map((written) => entryOf(threadId, written)),
    );
    note({ type: "appended", threadId, entries });
    journal.push(...drawn.map((written) => entryOf(threadId, written)));
    leased.last = entries.at(-1)?.tag ?? null;
  }

  /** Sometimes retries an append without an answer: the store then does it, or refuses it as a duplicate. */
  async #appendAll({ lease, threadId, journal }: Leased, entries: readonly Entry[]): Promise<void> {
    const { store } = this.#options;
    let tries = 0;
    try {
      await this.#insisting(async () => {
        tries += 1;
        await this.#call("append", async () => store.append(lease, journal.length - 1, entries));
      });
    } catch (error) {
      if (!(error instanceof SequenceConflictError)) throw error;
      if (tries === 1) throw new Error(`two could append to ${threadId}: ${error.message}`, { cause: error });
      const there = await this.#call("read", () => store.read(threadId, journal.length));
      if (!entries.every((entry, index) => JSON.stringify(there[index]) === JSON.stringify(entry)))
        throw new Error(`an append to ${threadId} was refused as done, and is not there`, { cause: error });
    }
  }

  async #rewrite({ lease, threadId, journal }: Leased): Promise<void> {
    const { store, random, note } = this.#options;
    const seq = random.integer(0, journal.length - 1);
    const before = writtenIn(threadId, journal[seq]);
    if (before === null) return;
    const { tag } = before;
    const version = before.version + 1;
    const entry = entryOf(threadId, { ...before, version, length: this.#length() });
    note({ type: "rewriting", threadId, tag, version });
    await this.#call("rewrite", () => store.rewrite(lease, [entry]));
    note({ type: "rewritten", threadId, tag, version });
    journal[seq] = entry;
  }

  async #saveSnapshot({ lease, threadId, journal }: Leased): Promise<void> {
    const { store, random, note, owner } = this.#options;
    const found = await this.#call("readSnapshot", () => store.readSnapshot(threadId));
    const before = found === null ? [] : (headIn(found.head)?.chunks ?? []);
    const kept = before.filter(() => random.percent(60)).slice(-5);
    const number = this.#options.nextNumber();
    const added = Array.from({ length: random.integer(0, 3) }, (_, index) => `${owner}-${number}-${index}`);
    const head: Head = { number, chunks: [...kept, ...added] };
    note({ type: "saving", threadId, number });
    await this.#call("saveSnapshot", () =>
      store.saveSnapshot(lease, {
        threadId,
        seq: journal.length - 1,
        head: JSON.stringify(head),
        chunks: new Map(added.map((id) => [id, chunkText(id)])),
        dropped: before.filter((id) => !kept.includes(id)),
      }),
    );
    note({ type: "saved", threadId, number });
  }

  /** Posts an item. An earlier item without an answer goes first, under its id. */
  async #post(threadId: string): Promise<void> {
    const { store, note, owner } = this.#options;
    const { inbox } = store;
    if (inbox === undefined) return;
    const doubtful = this.#doubtful.get(threadId);
    const id = doubtful ?? `${owner} ${(this.#drawn += 1)}`;
    this.#doubtful.set(threadId, id);
    let tries = 0;
    note({ type: "posting", threadId, id });
    await this.#insisting(async () => {
      tries += 1;
      await this.#call("post", () => inbox.post(threadId, itemOf(id)));
    });
    note({ type: "posted", threadId, id });
    this.#doubtful.delete(threadId);
    // An item that was posted twice may arrive late, even after it is discarded.
    if (doubtful === undefined && tries === 1)
      this.#posted.set(threadId, [...(this.#posted.get(threadId) ?? []), id].slice(-20));
  }

  async #answer({ lease, threadId, journal }: Leased): Promise<void> {
    const { store, note } = this.#options;
    const unanswered = await this.#call("unanswered", () => unansweredIn(store.inbox, threadId));
    const answers = unanswered.slice(0, 2).map(({ id }) => ({ id, handled: true, seq: journal.length - 1 }) as const);
    for (const { id } of answers) note({ type: "answering", threadId, id });
    await this.#call("answer", async () => store.inbox?.answer(lease, answers));
    for (const { id } of answers) note({ type: "answered", threadId, id });
  }

  async #discard({ threadId }: Leased): Promise<void> {
    const { store, random, note } = this.#options;
    const id = random.pick(this.#posted.get(threadId) ?? []);
    if (id === undefined) return;
    note({ type: "discarding", threadId, id });
    await this.#call("discard", async () => store.inbox?.discard(threadId, id));
    note({ type: "discarded", threadId, id });
  }

  async #delete(leased: Leased): Promise<void> {
    const { store, note } = this.#options;
    const { threadId } = leased;
    note({ type: "deleting", threadId });
    await this.#call("delete", () => store.delete(threadId));
    note({ type: "deleted", threadId });
    this.#posted.delete(threadId);
    this.#doubtful.delete(threadId);
    const lease = await store.acquire(threadId, this.#options.owner, this.#options.leasesMs[0] ?? 0);
    if (lease !== null) Object.assign(leased, { lease, journal: [], last: null });
  }

  /** Draws a length: mostly short, sometimes more than a page of a database or of a file. */
  #length(): number {
    const { random, lengthMax = 100_000 } = this.#options;
    return random.percent(90) ? random.integer(10, 600) : random.integer(Math.min(4000, lengthMax), lengthMax);
  }

  /** Sometimes retries a call whose answer was lost. */
  async #insisting(work: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        if (tries === 3 || !isUnreachable(error) || this.#options.random.percent(40)) throw error;
        await pause(1);
      }
    }
  }

  #call<A>(name: string, work: () => Promise<A>): Promise<A> {
    return this.#options.call?.(name, work) ?? work();
  }
}

/** A user of a store that works in the background, and continues while the store is unreachable. */
export class AtWork {
  readonly owner: string;
  readonly violations: string[] = [];
  /** The visits of threads without a failure, and those with one. */
  visits = 0;
  failures = 0;
  ended = false;
  readonly #running: Promise<void>;
  #stopped = false;

  constructor(options: UserOptions) {
    this.owner = options.owner;
    this.#running = this.#run(new User(options), options);
  }

  async #run(user: User, { random }: UserOptions): Promise<void> {
    while (!this.#stopped && !this.ended) {
      try {
        await user.visit();
        this.visits += 1;
      } catch (error) {
        this.failures += 1;
        if (!isUnreachable(error) && !(error instanceof LeaseLostError))
          this.violations.push(`${this.owner}: ${String(error)}`);
        this.ended = error instanceof NeverEnds;
      }
      await pause(random.integer(1, 20));
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }
}
