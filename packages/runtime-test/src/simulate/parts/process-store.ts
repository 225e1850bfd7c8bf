import type { Inbox, Lease, StoredSnapshot } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { never, type Opening, type SimulatedProcess } from "../world/process.ts";
import { type Random, SimulatedFailure, type World } from "../world/world.ts";
import { threadId as watched, type WatchedJournal } from "../checks/watched-journal.ts";

/** The store as a process sees it: sometimes slow, failing, or losing its answers. */
export class ProcessStore implements Store {
  readonly inbox?: Inbox;
  readonly saveSnapshot: Store["saveSnapshot"] = (...given) =>
    this.#call("keep a snapshot", async (store) => store.saveSnapshot(...given));
  readonly abandoned: Store["abandoned"] = () =>
    this.#call("look for abandoned threads", async (store) => store.abandoned());
  readonly list: Store["list"] = (...given) => this.#call("list", async (store) => store.list(...given));
  readonly delete: Store["delete"] = (...given) => this.#call("delete", async (store) => store.delete(...given));
  readonly #world: World;
  readonly #process: SimulatedProcess;
  readonly #journal: WatchedJournal;
  readonly #onOpened: (seq: number) => void;

  /**
   * @param onOpened called when the journal was read, with the seq of its newest entry: unfinished work continues now.
   */
  constructor(world: World, process: SimulatedProcess, journal: WatchedJournal, onOpened: (seq: number) => void) {
    this.#world = world;
    this.#process = process;
    this.#journal = journal;
    this.#onOpened = onOpened;
    const { inbox } = journal.store;
    if (inbox !== undefined) this.inbox = this.#inboxOf(inbox);
  }

  async acquire(threadId: string, owner: string, ttlMs: number): Promise<Lease | null> {
    if (threadId !== watched) return this.#call("acquire", async (store) => store.acquire(threadId, owner, ttlMs));
    const taken = await this.#call("acquire", async (store) => {
      const until = this.#world.clock.now() + ttlMs;
      const lease = await store.acquire(threadId, owner, ttlMs);
      if (lease === null) return null;
      this.#process.note(`holds the thread (token ${lease.token})`);
      if (lease.token <= this.#journal.newestToken) {
        this.#world.breaks("R3", `lease ${lease.token} was given after lease ${this.#journal.newestToken}`);
      }
      this.#journal.newestToken = lease.token;
      const opening: Opening = {
        token: lease.token,
        drop: () => store.renew(lease, 0),
        performed: new Map(),
        until,
        loaded: true,
        over: false,
        lapsed: false,
        superseded: false,
      };
      if (this.#journal.newestOpening !== null) this.#journal.newestOpening.superseded = true;
      this.#journal.newestOpening = opening;
      this.#process.opening = opening;
      return lease;
    });
    // A process that lost the answer does not know that it holds the thread.
    const { opening } = this.#process;
    if (taken !== null && opening?.token === taken.token) opening.loaded = false;
    return taken;
  }

  async renew(lease: Lease, ttlMs: number): Promise<boolean> {
    if (ttlMs === 0) this.#end(lease);
    return this.#call("renew", async (store) => {
      const until = this.#world.clock.now() + ttlMs;
      const kept = await store.renew(lease, ttlMs);
      const { opening } = this.#process;
      if (kept && lease.threadId === watched && opening?.token === lease.token) opening.until = until;
      return kept;
    });
  }

  async release(lease: Lease): Promise<void> {
    this.#end(lease);
    await this.#call("release", async (store) => {
      if (lease.threadId === watched && lease.token === this.#journal.newestToken) this.#checkGivenBack();
      await store.release(lease);
    });
  }

  async read(threadId: string, fromSeq?: number): Promise<readonly unknown[]> {
    const entries = await this.#call("read", async (store) => store.read(threadId, fromSeq));
    const { opening } = this.#process;
    if (threadId === watched && opening !== null && !opening.over && !opening.loaded) {
      opening.loaded = true;
      this.#onOpened((fromSeq ?? 0) + entries.length - 1);
    }
    return entries;
  }

  append(lease: Lease, expectedSeq: number, entries: readonly Entry[]): void | Promise<void> {
    const world = this.#world;
    if (!this.#process.crosses("before an append")) return never();
    if (world.hits("appendFails")) {
      this.#process.note("an append fails");
      return this.#refuse("the disk is full");
    }
    if (world.hits("appendSlow")) return this.#appendSlowly(lease, expectedSeq, entries);
    const writing = this.#append(lease, expectedSeq, entries);
    return writing === undefined ? this.#acknowledge() : writing.then(() => this.#acknowledge());
  }

  async rewrite(lease: Lease, entries: readonly Entry[]): Promise<void> {
    return this.#call("rewrite", async (store) =>
      lease.threadId === watched ? this.#journal.rewrite(lease, entries) : store.rewrite(lease, entries),
    );
  }

  async readSnapshot(threadId: string): Promise<StoredSnapshot | null> {
    const snapshot = await this.#call("read the snapshot", async (store) => store.readSnapshot(threadId));
    if (snapshot === null || !this.#world.hits("snapshotDamaged")) return snapshot;
    this.#process.note("the snapshot is damaged");
    return damaged(snapshot, this.#world.random);
  }

  async close(): Promise<void> {}

  /** The process gives its lease up, by releasing it or by letting it run out. */
  #end(lease: Lease): void {
    const { opening } = this.#process;
    if (lease.threadId !== watched || opening?.token !== lease.token) return;
    opening.over = true;
    opening.lapsed = this.#process.clock.now() >= opening.until;
  }

  /** Recovery does not look at a thread that was given back. */
  #checkGivenBack(): void {
    const effect = this.#journal.outstanding.find(
      (each) => each.type !== "requestApproval" && !(each.type === "callTool" && each.by === "caller"),
    );
    if (effect === undefined) return;
    this.#world.breaks("R2", `${this.#process.name} gives the thread back, and "${effect.id}" is outstanding`);
  }

  #inboxOf(inbox: Inbox): Inbox {
    return {
      post: (...given) => this.#call("post an inbox item", async () => inbox.post(...given)),
      unanswered: (...given) => this.#call("look for inbox items", async () => inbox.unanswered(...given)),
      waiting: () => this.#call("look at all inboxes", async () => inbox.waiting()),
      answer: (...given) => this.#call("answer inbox items", async () => inbox.answer(...given)),
      answerTo: (...given) => this.#call("look for an answer", async () => inbox.answerTo(...given)),
      discard: (...given) => this.#call("discard an inbox item", async () => inbox.discard(...given)),
    };
  }

  #append(lease: Lease, expectedSeq: number, entries: readonly Entry[]): void | Promise<void> {
    return lease.threadId === watched
      ? this.#journal.append(lease, expectedSeq, entries)
      : this.#journal.store.append(lease, expectedSeq, entries);
  }

  /** Appends slowly. An append in progress is written even if the process dies meanwhile. */
  async #appendSlowly(lease: Lease, expectedSeq: number, entries: readonly Entry[]): Promise<void> {
    const { random } = this.#world;
    const writtenAfterMs = random.whole(0, 20);
    const answeredAfterMs = random.whole(0, 20);
    await this.#world.sleep(writtenAfterMs);
    const outcome = await settled(async () => this.#append(lease, expectedSeq, entries));
    await this.#process.sleep(answeredAfterMs);
    if ("error" in outcome) throw outcome.error;
    await this.#acknowledge();
  }

  #acknowledge(): void | Promise<void> {
    if (this.#world.hits("appendUnacknowledged")) {
      this.#process.note("an append is written, and not acknowledged");
      return this.#refuse("the connection was lost");
    }
    if (!this.#process.crosses("after an append")) return never();
  }

  /** Fails by throwing, as stores that need not wait do, or by rejecting, as others do. */
  #refuse(why: string): Promise<never> {
    if (this.#world.random.chance(0.5)) throw new SimulatedFailure(why);
    return Promise.reject(new SimulatedFailure(why));
  }

  /** Calls the store. A call that fails may or may not have had its effect. */
  async #call<Value>(doing: string, call: (store: Store) => Promise<Value>): Promise<Value> {
    const { random } = this.#world;
    if (!this.#process.crosses(`before ${doing}`)) return never();
    const fails = this.#world.hits("storeFails");
    const slow = this.#world.hits("storeSlow");
    if (fails) this.#process.note(`the store fails to ${doing}`);
    if (slow) await this.#world.sleep(random.whole(0, 20));
    const outcome = await settled(async () => (fails && random.chance(0.5) ? undefined : call(this.#journal.store)));
    if (slow) await this.#process.sleep(random.whole(0, 20));
    if (!this.#process.crosses(`after ${doing}`)) return never();
    if (fails) throw new SimulatedFailure(`the store is down (${doing})`);
    if ("error" in outcome) throw outcome.error;
    // Only a call that was left out is undefined, and that one has failed.
    return outcome.value as Value;
  }
}

/** Returns a snapshot whose head is cut off, or that lacks its chunks. */
const damaged = ({ head, chunk }: StoredSnapshot, random: Random): StoredSnapshot =>
  random.chance(0.5)
    ? { head: head.slice(0, random.whole(0, head.length - 1)), chunk }
    : { head, chunk: () => undefined };

type Outcome<Value> = { readonly value: Value } | { readonly error: unknown };

const settled = async <Value>(call: () => Promise<Value>): Promise<Outcome<Value>> => {
  try {
    return { value: await call() };
  } catch (error) {
    return { error };
  }
};
