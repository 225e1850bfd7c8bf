import type { State } from "@colloquy/machine";
import { isIdle } from "../mailbox/mailbox.ts";
import { ThreadHeldError } from "../boundary/errors.ts";
import { messageOf } from "../boundary/thrown.ts";
import type { LeftThread } from "../context/hooks.ts";
import type { HostContext, RecoveryOptions } from "../context/host-context.ts";
import { idOf, isRequest } from "../delegation/inbox-items.ts";
import { HeldLease } from "../journal/lease.ts";
import { lookAt } from "../journal/opening.ts";
import { hasMembers, type ListOptions } from "../ports/listing.ts";
import { continueThread } from "./resume.ts";
import type { Loops } from "./thread-ref.ts";

/**
 * Continues what was under way in the threads of the store when their process died. All of it happens in the background, and
 * no wait of it keeps a process alive.
 */
export class Recovery {
  readonly #host: HostContext;
  readonly #loops: Loops;
  readonly #options: Required<Pick<RecoveryOptions, "everyMs">> & RecoveryOptions;
  #isUnderWay = false;
  #repeats = false;
  #isOver = false;
  /** Until when held threads are tried again; null before the first look is done. */
  #patientUntil: number | null = null;
  /** When another look is due at the earliest. */
  #nextAt = -Infinity;
  /** Only threads that changed since then are looked at. */
  #from = 0;
  #left: ReadonlyMap<string, Error> = new Map();
  /** The threads that were continued, until nothing is outstanding in them: their loops may end before that. */
  readonly #continued: Set<string> = new Set();
  #cancel = (): void => {};

  constructor(host: HostContext, loops: Loops, options: RecoveryOptions) {
    this.#host = host;
    this.#loops = loops;
    this.#options = { ...options, everyMs: options.everyMs ?? 30_000 };
  }

  /** Looks once at all threads, unless that was done, or no model call can be made: every turn would fail. */
  begin(): void {
    const { clock, llm } = this.#host;
    if (this.#patientUntil !== null || this.#isUnderWay || clock.now() < this.#nextAt) return;
    try {
      llm.check?.();
    } catch {
      // The use of a thread says so, if it calls the model.
      return;
    }
    this.#look(clock.now());
  }

  repeat(): void {
    this.#repeats = true;
    if (!this.#isUnderWay) this.#look(Math.max(this.#nextAt, this.#host.clock.now()));
  }

  end(): void {
    this.#isOver = true;
    this.#cancel();
  }

  #look(at: number): void {
    if (this.#isUnderWay || this.#isOver) return;
    this.#isUnderWay = true;
    // Not before what the caller does next: it asks, or it answers a request.
    this.#wakeAt(at, () => void this.#round());
  }

  async #round(): Promise<void> {
    const { clock, observation, leaseTtlMs } = this.#host;
    const begunAt = clock.now();
    const { everyMs, metadata } = this.#options;
    try {
      if (begunAt >= this.#nextAt) {
        this.#nextAt = begunAt + everyMs;
        const filter = { ...(metadata === undefined ? {} : { metadata }), updated: { from: this.#from } };
        await this.#take(this.#pages(filter), this.#patientUntil === null);
        this.#patientUntil ??= clock.now() + leaseTtlMs + 2 * this.#retryMs;
        // Clocks of processes differ; a thread that is looked at twice costs little.
        this.#from = begunAt - everyMs;
      } else await this.#take(this.#pages(null), false);
    } catch (thrown) {
      if (!this.#isOver) observation.report(thrown, "recovery");
    }
    this.#isUnderWay = false;
    const retries = clock.now() < (this.#patientUntil ?? 0) && [...this.#left.values()].some(isHeld);
    if (retries) this.#look(Math.min(clock.now() + this.#retryMs, this.#nextAt));
    else if (this.#repeats) this.#look(this.#nextAt);
  }

  /** A holder that is alive need not be replaced, so its lease is tried for less often than a follower polls. */
  get #retryMs(): number {
    return 5 * this.#host.pollMs;
  }

  /**
   * The ids of the threads to look at: those that were left or continued, and, unless the filter is null, those in whose
   * inboxes items wait, and those that the store lists. A post changes no thread, so no list finds it.
   */
  async *#pages(filter: ListOptions | null): AsyncGenerator<readonly string[]> {
    const waiting = filter === null ? [] : await this.#waiting();
    const first = new Set([...this.#left.keys(), ...this.#continued, ...waiting]);
    yield [...first];
    for (let after: string | null | undefined; filter !== null && after !== null;) {
      const { threads, next } = await this.#host.store.list({
        ...filter,
        order: "oldest",
        ...(after === undefined ? {} : { after }),
      });
      yield threads.map(({ threadId }) => threadId).filter((id) => !first.has(id));
      after = next;
    }
  }

  /** The threads in whose inboxes items wait. If the store fails to say, the threads that it lists are looked at anyway. */
  async #waiting(): Promise<readonly string[]> {
    const { store, observation } = this.#host;
    try {
      return (await store.inbox?.waiting?.()) ?? [];
    } catch (thrown) {
      if (!this.#isOver) observation.report(thrown, "recovery");
      return [];
    }
  }

  async #take(pages: AsyncIterable<readonly string[]>, isFirst: boolean): Promise<void> {
    const continued: string[] = [];
    const left = new Map<string, Error>();
    let busySince = this.#host.clock.now();
    const take = async (threadId: string): Promise<void> => {
      // Stores that answer at once would let nothing else come to its turn.
      if (this.#host.clock.now() - busySince > longestBusyMs) {
        await new Promise<void>((resolve) => this.#wakeAt(this.#host.clock.now(), resolve));
        busySince = this.#host.clock.now();
      }
      if (this.#isOver) return;
      try {
        if (await this.#continue(threadId)) continued.push(threadId);
      } catch (thrown) {
        left.set(threadId, thrown instanceof Error ? thrown : new Error(messageOf(thrown)));
      }
    };
    for await (const page of pages) {
      const queue = [...page];
      const work = async (): Promise<void> => {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) await take(next);
      };
      await Promise.all(Array.from({ length: atOnce }, work));
    }
    if (this.#isOver) return;
    this.#left = left;
    const reasons = [...left].map(([threadId, error]): LeftThread => ({ threadId, error }));
    if (isFirst || continued.length > 0) this.#host.observation.recovered({ continued, left: reasons });
  }

  /** Continues a thread that has something outstanding. Returns false if it has nothing, or is in use here. */
  async #continue(threadId: string): Promise<boolean> {
    const host = this.#host;
    const loops = this.#loops;
    // Its loop has continued it. Reading it as well would cost as much as opening it.
    if (isOpen(loops.opened(threadId))) return false;
    if (!(await isOutstanding(host, threadId, this.#options.metadata))) {
      this.#continued.delete(threadId);
      return false;
    }
    const used = loops.opened(threadId);
    if (isOpen(used)) return false;
    // A thread that another host holds is not opened: it would be followed, at the cost of a journal in memory.
    if (used !== undefined || !(await loops.alone(threadId, () => isFree(host, threadId))))
      throw new ThreadHeldError(threadId);
    await continueThread({ id: threadId, host, loops });
    this.#continued.add(threadId);
    return true;
  }

  #wakeAt(at: number, work: () => void): void {
    this.#cancel = this.#host.clock.wakeAt(at, work, "background");
  }
}

const atOnce = 16;

const longestBusyMs = 10;

/** Whether a thread is open here: it is neither being opened, nor held by another host. */
const isOpen = (loop: ReturnType<Loops["opened"]>): boolean => loop !== undefined && loop.state !== null;

const isHeld = (error: Error): boolean => error instanceof ThreadHeldError;

/** Returns whether no host holds a thread. One that does is not asked for it. @throws StoreError */
const isFree = async (host: HostContext, threadId: string): Promise<boolean> => {
  const held = await HeldLease.take(threadId, host, () => {});
  await held?.release();
  return held !== null;
};

/**
 * Whether something continues in a thread when it is opened, or an item in its inbox does. A request for the lease does
 * not, nor an item without an id, which stays, and nothing does in a thread without the metadata.
 */
const isOutstanding = async (
  host: HostContext,
  threadId: string,
  metadata: ListOptions["metadata"],
): Promise<boolean> => {
  const see = (state: State): boolean | null =>
    hasMembers(state.context.metadata, metadata) ? !isIdle(state) || state.context.summarising !== null : null;
  const isUnderWay = await lookAt(host, threadId, see, "some");
  if (isUnderWay === null) return false;
  const items = isUnderWay ? [] : ((await host.store.inbox?.unanswered(threadId)) ?? []);
  return isUnderWay || items.some((item) => idOf(item) !== null && !isRequest(item));
};
