import type { State } from "@colloquy/machine";
import { goesOn } from "../mailbox/mailbox.ts";
import { ThreadHeldError } from "../boundary/errors.ts";
import { checkValue, kinds } from "../boundary/option-kinds.ts";
import { messageOf } from "../boundary/thrown.ts";
import type { LeftThread } from "../context/hooks.ts";
import type { HostContext, RecoveryOptions } from "../context/host-context.ts";
import { idOf, isRequest } from "../delegation/inbox-items.ts";
import { HeldLease } from "../journal/lease.ts";
import { openJournal, seenIn } from "../journal/opening.ts";
import type { Lease } from "../ports/store.ts";
import { continueThread } from "./resume.ts";
import type { Loops } from "./thread-ref.ts";

/**
 * Continues the unfinished work of abandoned threads, and handles the items that wait in inboxes. All of it happens in
 * the background, and no wait of it keeps a process alive.
 */
export class Recovery {
  readonly #host: HostContext;
  readonly #loops: Loops;
  readonly #options: Required<Pick<RecoveryOptions, "everyMs">> & RecoveryOptions;
  #isUnderWay = false;
  #repeats = false;
  #isOver = false;
  /** Until when leases of dead holders may still run out that were in force at the first look; null before that. */
  #patientUntil: number | null = null;
  /** When another look at all abandoned threads is due at the earliest. */
  #nextAt = -Infinity;
  /** The threads that were looked at since then. */
  #seen = new Set<string>();
  /** The last error of each thread that could not be read, which was reported. */
  readonly #failed = new Map<string, string>();
  #cancel = (): void => {};

  constructor(host: HostContext, loops: Loops, options: RecoveryOptions) {
    this.#host = host;
    this.#loops = loops;
    this.#options = { ...options, everyMs: options.everyMs ?? 30_000 };
  }

  /**
   * Looks once, and again for as long as a lease may run. Does nothing if that was done, or if no model call can be
   * made: every turn would fail.
   */
  begin(): void {
    const { clock, llm } = this.#host;
    if (this.#patientUntil !== null || clock.now() < this.#nextAt) return;
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
    this.#look(Math.max(this.#nextAt, this.#host.clock.now()));
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
    const isFirst = this.#patientUntil === null;
    try {
      if (begunAt >= this.#nextAt) {
        this.#nextAt = begunAt + this.#options.everyMs;
        this.#seen = new Set();
      }
      await this.#take(await this.#found(), isFirst);
      this.#patientUntil ??= clock.now() + leaseTtlMs + 2 * this.#retryMs;
    } catch (thrown) {
      if (!this.#isOver) observation.report(thrown, "recovery");
    }
    this.#isUnderWay = false;
    const now = clock.now();
    if (now < (this.#patientUntil ?? 0)) this.#look(Math.min(now + this.#retryMs, this.#nextAt));
    else if (this.#repeats) this.#look(this.#nextAt);
  }

  /** A look costs two short queries. */
  get #retryMs(): number {
    return 5 * this.#host.pollMs;
  }

  /** The ids of the threads to look at. Throws if the store does not name the abandoned ones. */
  async #found(): Promise<readonly string[]> {
    const { store, observation } = this.#host;
    const [abandoned, waiting] = await Promise.allSettled([store.abandoned(), store.inbox?.waiting() ?? []]);
    if (abandoned.status === "rejected") throw abandoned.reason;
    if (waiting.status === "rejected" && !this.#isOver) observation.report(waiting.reason, "recovery");
    const ids = waiting.status === "rejected" ? abandoned.value : [...abandoned.value, ...waiting.value];
    return [...new Set(ids)].filter((id) => !this.#seen.has(id));
  }

  async #take(ids: readonly string[], isFirst: boolean): Promise<void> {
    const continued: string[] = [];
    const left: LeftThread[] = [];
    let hasNews = isFirst;
    let busySince = this.#host.clock.now();
    const take = async (threadId: string): Promise<void> => {
      // Stores that answer at once would let nothing else come to its turn.
      if (this.#host.clock.now() - busySince > longestBusyMs) {
        await new Promise<void>((resolve) => this.#wakeAt(this.#host.clock.now(), resolve));
        busySince = this.#host.clock.now();
      }
      if (this.#isOver) return;
      this.#seen.add(threadId);
      try {
        const isContinued = await this.#continue(threadId);
        this.#failed.delete(threadId);
        if (!isContinued) return;
        continued.push(threadId);
        hasNews = true;
      } catch (thrown) {
        const error = thrown instanceof Error ? thrown : new Error(messageOf(thrown));
        // Its holder may give it back at any time.
        if (error instanceof ThreadHeldError) this.#seen.delete(threadId);
        else {
          hasNews ||= this.#failed.get(threadId) !== error.message;
          this.#failed.set(threadId, error.message);
        }
        left.push({ threadId, error });
      }
    };
    const queue = [...ids];
    const work = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) await take(next);
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    if (this.#isOver) return;
    if (hasNews) this.#host.observation.recovered({ continued, left });
  }

  /** Continues a thread that has something outstanding. Returns false if it has nothing, or is in use here. */
  async #continue(threadId: string): Promise<boolean> {
    const host = this.#host;
    const loops = this.#loops;
    // Its loop has continued it. Reading it as well would cost as much as opening it.
    if (isOpen(loops.opened(threadId))) return false;
    const outstanding = await this.#outstandingIn(threadId, null);
    if (outstanding === "others") return false;
    const used = loops.opened(threadId);
    if (isOpen(used)) return false;
    // A thread that another host holds is not opened: it would be followed, at the cost of a journal in memory.
    const underLease = used === undefined ? await loops.alone(threadId, () => this.#checkUnderLease(threadId)) : null;
    if (underLease === "some") await continueThread({ id: threadId, host, loops });
    else if (underLease === null && outstanding === "some") throw new ThreadHeldError(threadId);
    return underLease === "some";
  }

  /** Returns null while another host holds the thread. A thread that has nothing outstanding is given back. */
  async #checkUnderLease(threadId: string): Promise<Outstanding | null> {
    const held = await HeldLease.take(threadId, this.#host, () => {});
    if (held === null) return null;
    try {
      // Its last holder may have begun something since, and died.
      const outstanding = await this.#outstandingIn(threadId, held.lease);
      if (outstanding === "none") await this.#dropRequests(threadId);
      held.isOver = outstanding === "none";
      return outstanding;
    } finally {
      await held.end();
    }
  }

  /**
   * Whether something continues in a thread when it is opened, or an item in its inbox does. A request for the lease
   * does not, nor an item without an id, which stays. With the lease, finishes a redaction that a crash interrupted.
   */
  async #outstandingIn(threadId: string, lease: Lease | null): Promise<Outstanding> {
    const host = this.#host;
    const { continues = () => true } = this.#options;
    const opened = await openJournal(host, threadId, lease);
    const see = (state: State) => ({ goesOn: goesOn(state), metadata: state.context.metadata });
    const seen = opened === null ? { goesOn: false, metadata: {} } : await seenIn(host, opened, see, "some");
    const isOutstanding =
      seen.goesOn || (await this.#itemsIn(threadId)).some((item) => idOf(item) !== null && !isRequest(item));
    if (!isOutstanding) return "none";
    const isOwn = continues(seen.metadata);
    checkValue("createHost: recovery: continues(metadata)", isOwn, kinds.flag);
    return isOwn ? "some" : "others";
  }

  /** The hosts that requested the thread are gone, or get its lease once it is free. */
  async #dropRequests(threadId: string): Promise<void> {
    for (const item of await this.#itemsIn(threadId))
      if (isRequest(item)) await this.#host.store.inbox?.discard(threadId, idOf(item) ?? "");
  }

  async #itemsIn(threadId: string): Promise<readonly unknown[]> {
    return (await this.#host.store.inbox?.unanswered(threadId)) ?? [];
  }

  #wakeAt(at: number, work: () => void): void {
    this.#cancel = this.#host.clock.wakeAt(at, work, "background");
  }
}

const atOnce = 16;

const longestBusyMs = 10;

/** Whether a thread is open here: it is neither being opened, nor held by another host. */
const isOpen = (loop: ReturnType<Loops["opened"]>): boolean => loop !== undefined && loop.state !== null;

/** `others`: something that this host does not continue. */
type Outstanding = "some" | "none" | "others";
