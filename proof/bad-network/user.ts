import { setTimeout as pause } from "node:timers/promises";

import { type Lease, LeaseLostError, SequenceConflictError } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import { ending, isUnreachable, NeverEnds } from "../kit/calls.ts";
import { chunkText, type Head, headIn, envelopeOf } from "../kit/contents.ts";
import type { Random } from "../kit/random.ts";
import { unansweredIn } from "../kit/store-checks.ts";
import { type Book, entryOf } from "./book.ts";

/** Who uses a store: on which threads, and how long one call may take before it counts as one that never ends. */
export interface UserOptions {
  readonly store: Store;
  readonly owner: string;
  readonly threadIds: readonly string[];
  readonly random: Random;
  readonly book: Book;
  readonly limitMs: number;
}

/** A user of a store at work, who continues in any state of the network. */
export class User {
  /** Visits of a thread that met with no failure. */
  visits = 0;
  /** A call of the user never ended, so the user cannot continue. */
  ended = false;
  readonly #options: UserOptions;
  readonly #running: Promise<void>;
  #stopped = false;
  #drawn = 0;

  constructor(options: UserOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { threadIds, random, book, owner } = this.#options;
    while (!this.#stopped) {
      try {
        await this.#visit(threadIds[random.integer(0, threadIds.length - 1)] ?? "");
        this.visits += 1;
      } catch (error) {
        book.failures += 1;
        if (!mayPass(error)) book.violations.push(`${owner}: ${String(error)}`);
        this.ended = error instanceof NeverEnds;
        if (this.ended) return;
      }
      await pause(random.integer(1, 20));
    }
  }

  /**
   * Takes the lease, reads, and does some of the things that a host does. After a failure it takes the lease again,
   * which voids calls that are still under way.
   */
  async #visit(threadId: string): Promise<void> {
    const { store, owner, random } = this.#options;
    await this.#post(threadId);
    const ttlMs = random.percent(50) ? ttlMsShort : ttlMsLong;
    const lease = await this.#call("acquire", () => store.acquire(threadId, owner, ttlMs));
    if (lease === null) return;
    const leased: LeasedThread = { lease, threadId, length: (await this.#read(threadId)).length };
    const count = random.integer(1, 8);
    for (let done = 0; done < count && !this.#stopped; done += 1) await this.#write(leased);
    // Left to run out now and then.
    if (random.percent(80)) await this.#call("release", () => store.release(lease));
  }

  async #write(leased: LeasedThread): Promise<void> {
    const { store, random } = this.#options;
    const choice = random.integer(1, 100);
    if (choice <= 55) await this.#append(leased);
    else if (choice <= 65) await this.#rewrite(leased);
    else if (choice <= 77) await this.#saveSnapshot(leased);
    else if (choice <= 87) await this.#answer(leased);
    else if (choice <= 92) await this.#call("renew", () => store.renew(leased.lease, ttlMsShort));
    else if (choice <= 96) await this.#call("list", () => store.list());
    else await this.#read(leased.threadId);
  }

  async #append(leased: LeasedThread): Promise<void> {
    const { random, book } = this.#options;
    const { threadId, length, lease } = leased;
    const entries = Array.from({ length: random.integer(1, 3) }, (_, index) => {
      const tag = this.#tag(lease);
      book.appending(threadId, tag, length + index);
      return { tag, entry: entryOf(threadId, length + index, tag, 0) };
    });
    await this.#appendAll(
      leased,
      entries.map(({ entry }) => entry),
    );
    for (const { tag } of entries) book.appended(tag);
    leased.length += entries.length;
  }

  /** An append whose answer is lost is tried again now and then, as it was: it is then done, or refused because it is there. */
  async #appendAll({ lease, threadId, length }: LeasedThread, entries: readonly Entry[]): Promise<void> {
    const { store, random, book } = this.#options;
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#call("append", async () => store.append(lease, length - 1, entries));
        return;
      } catch (error) {
        if (error instanceof SequenceConflictError) {
          if (tries === 1) book.violations.push(`${threadId}: two could append: ${error.message}`);
          const there = await this.#read(threadId);
          const isOurs = entries.every((entry, index) => same(there[length + index], entry));
          if (!isOurs) book.violations.push(`${threadId}: refused, and is not there: ${JSON.stringify(entries)}`);
          book.recognised += 1;
          return;
        }
        if (tries === triesMax || !isUnreachable(error) || random.percent(40)) throw error;
      }
    }
  }

  async #rewrite({ lease, threadId }: LeasedThread): Promise<void> {
    const { store, owner, random, book } = this.#options;
    const own = book.thereOf(threadId, owner);
    const entry = own[random.integer(0, own.length - 1)];
    if (entry === undefined) return;
    const version = book.rewriting(threadId, entry.tag);
    await this.#call("rewrite", () => store.rewrite(lease, [entryOf(threadId, entry.seq, entry.tag, version)]));
    book.rewritten(entry.tag, version);
  }

  async #saveSnapshot({ lease, threadId, length }: LeasedThread): Promise<void> {
    const { store, book } = this.#options;
    const found = await this.#call("readSnapshot", () => store.readSnapshot(threadId));
    const before = found === null ? noHead : headIn(found.head);
    const number = (newestNumber += 1);
    const head: Head = { number, chunks: [...before.chunks.slice(-2), `${number}/a`, `${number}/b`] };
    const chunks = new Map(head.chunks.slice(-2).map((id) => [id, chunkText(id)]));
    const dropped = before.chunks.slice(0, -2);
    const draft = { threadId, seq: length - 1, head: JSON.stringify(head), chunks, dropped };
    await this.#call("saveSnapshot", () => store.saveSnapshot(lease, draft));
    book.snapshot(threadId, number);
  }

  /** Posts an envelope, again under its id where the answer was lost, and discards one that was answered. */
  async #post(threadId: string): Promise<void> {
    const { store, random, book, owner } = this.#options;
    const { inbox } = store;
    if (inbox === undefined) return;
    const [answered] =
      [...book.envelopesOf(threadId)].find(([id, state]) => state === "answered" && id.startsWith(`${owner} `)) ?? [];
    if (answered !== undefined) {
      book.envelope(threadId, answered, "discarding");
      await this.#call("discard", () => inbox.discard(threadId, answered));
    }
    const id = `${owner} ${(this.#drawn += 1)}`;
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#call("post", () => inbox.post(threadId, envelopeOf(id)));
        // The user that has the lease may have answered it already.
        if (!book.envelopesOf(threadId).has(id)) book.envelope(threadId, id, "posted");
        return;
      } catch (error) {
        if (tries === triesMax || !isUnreachable(error) || random.percent(40)) throw error;
      }
    }
  }

  async #answer({ lease, threadId, length }: LeasedThread): Promise<void> {
    const { inbox } = this.#options.store;
    if (inbox === undefined) return;
    const unanswered = await this.#call("unanswered", () => unansweredIn(inbox, threadId));
    const ids = unanswered.slice(0, 2).map(({ id }) => id);
    await this.#call("answer", () =>
      inbox.answer(
        lease,
        ids.map((id) => ({ id, handled: true, seq: length })),
      ),
    );
    for (const id of ids) this.#options.book.envelope(threadId, id, "answered");
  }

  async #read(threadId: string): Promise<readonly unknown[]> {
    const { store, book } = this.#options;
    const stored = await this.#call("read", () => store.read(threadId));
    book.violations.push(...book.problemsOf(threadId, stored));
    return stored;
  }

  #tag({ token }: Lease): string {
    return `${this.#options.owner}/${token}/${(this.#drawn += 1)}`;
  }

  #call<A>(name: string, work: () => Promise<A>): Promise<A> {
    return ending(name, this.#options.limitMs, work());
  }
}

interface LeasedThread {
  readonly lease: Lease;
  readonly threadId: string;
  length: number;
}

const mayPass = (error: unknown): boolean => isUnreachable(error) || error instanceof LeaseLostError;

const noHead: Head = { number: 0, chunks: [] };

const same = (stored: unknown, entry: Entry): boolean => JSON.stringify(stored) === JSON.stringify(entry);

/** Of all snapshots of this process. */
let newestNumber = 0;

/** Short enough that others often take over, and long enough to try again after a call that was late. */
const ttlMsShort = 250;
const ttlMsLong = 2_000;
const triesMax = 3;
