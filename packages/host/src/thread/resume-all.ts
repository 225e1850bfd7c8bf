import { isIdle } from "../activity/idle.ts";
import { ThreadHeldError } from "../boundary/errors.ts";
import { type OptionNames, problemOfOptions } from "../boundary/option-names.ts";
import { messageOf } from "../boundary/thrown.ts";
import type { HostContext } from "../context/host-context.ts";
import { lookAt } from "../journal/opening.ts";
import type { ListOptions } from "../ports/listing.ts";
import { type AsksUnderWay, asksUnderWay, type Resumed } from "./resume.ts";

/** Which threads are taken up, and how long for. */
export interface ResumeAllOptions extends Pick<ListOptions, "metadata" | "created" | "updated"> {
  /**
   * How long to try again, in milliseconds, for threads that another host holds: if it is dead, its leases run out
   * meanwhile. 0: not at all. Default: a little more than `leaseTtlMs` of this host.
   */
  readonly waitMs?: number;
  /** The ids of threads that are looked at as well, whatever the other options name: those that an earlier call left. */
  readonly also?: readonly string[];
}

/** What became of the threads that had something outstanding. */
export interface ResumedAll {
  /** Also those that came to their end while their lease was waited for, here or at their holder: their handles give what came of it. */
  readonly resumed: readonly Resumed[];
  /** Those that could not be taken up, and why: mostly a `ThreadHeldError`. */
  readonly left: readonly LeftThread[];
}

/** A thread that could not be taken up. */
export interface LeftThread {
  readonly threadId: string;
  readonly error: Error;
}

/** Takes up a thread in which these asks are under way. */
type TakeUp = (threadId: string, asks: AsksUnderWay) => Promise<Resumed>;

/** @throws RangeError for options that are invalid; what the store throws when it lists */
export const resumeAll = async (host: HostContext, takeUp: TakeUp, options: ResumeAllOptions): Promise<ResumedAll> => {
  const problem = problemOfOptions("resumeAll", options, optionNames);
  if (problem !== null) throw new RangeError(problem);
  const { clock, pollMs, leaseTtlMs } = host;
  const retryMs = pollsBetween * pollMs;
  const { waitMs = leaseTtlMs + 2 * retryMs, also = [], ...filter } = options;
  if (!(waitMs >= 0)) throw new RangeError(`resumeAll: waitMs is ${waitMs}; it must be milliseconds, 0 or more`);
  if (!Array.isArray(also) || also.some((id) => typeof id !== "string" || id === ""))
    throw new RangeError("resumeAll: also must be a list of thread ids");
  const first = new Set(also);
  const until = clock.now() + waitMs;
  const resuming = new Resuming(host, takeUp);
  await resuming.take([...first]);
  for await (const page of threadsOf(host, filter)) await resuming.take(page.filter((id) => !first.has(id)));
  for (let held = resuming.held(); held.length > 0 && clock.now() < until; held = resuming.held()) {
    const dueAt = Math.min(clock.now() + retryMs, until);
    await new Promise<void>((resolve) => void clock.wakeAt(dueAt, resolve));
    await resuming.take(held);
  }
  return { resumed: resuming.resumed, left: [...resuming.left].map(([threadId, error]) => ({ threadId, error })) };
};

const optionNames: OptionNames<ResumeAllOptions> = {
  metadata: true,
  created: true,
  updated: true,
  waitMs: true,
  also: true,
};

/** A holder that is alive need not be replaced, so its lease is tried for less often than a follower polls. */
const pollsBetween = 5;

/** The ids of all threads that the store has, page by page. */
const threadsOf = async function* ({ store }: HostContext, filter: ListOptions): AsyncGenerator<readonly string[]> {
  for (let after: string | null | undefined; after !== null;) {
    const { threads, next } = await store.list({
      ...filter,
      order: "oldest",
      ...(after === undefined ? {} : { after }),
    });
    yield threads.map(({ threadId }) => threadId);
    after = next;
  }
};

/** What came of the threads so far. */
class Resuming {
  readonly resumed: Resumed[] = [];
  readonly left = new Map<string, Error>();
  /** What was under way when it was last looked at and something was. */
  readonly #underWay = new Map<string, AsksUnderWay>();
  readonly #host: HostContext;
  readonly #takeUp: TakeUp;

  constructor(host: HostContext, takeUp: TakeUp) {
    this.#host = host;
    this.#takeUp = takeUp;
  }

  /** Those that may be free later. */
  held(): readonly string[] {
    return [...this.left].flatMap(([threadId, error]) => (error instanceof ThreadHeldError ? [threadId] : []));
  }

  /** Takes up those that have something outstanding, some at a time. */
  async take(threadIds: readonly string[]): Promise<void> {
    const queue = [...threadIds];
    const work = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) await this.#take(next);
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }

  async #take(threadId: string): Promise<void> {
    try {
      // Its holder went on meanwhile, and this host may have taken it up as its follower.
      const asks = (await outstandingIn(this.#host, threadId)) ?? this.#underWay.get(threadId);
      if (asks === undefined) return;
      this.#underWay.set(threadId, asks);
      this.resumed.push(await this.#takeUp(threadId, asks));
      this.left.delete(threadId);
    } catch (thrown) {
      this.left.set(threadId, thrown instanceof Error ? thrown : new Error(messageOf(thrown)));
    }
  }
}

/** How many threads are looked at, or wait for a slot, at a time. */
const atOnce = 16;

/** The asks of a thread in which something goes on when it is taken up, or in whose inbox something lies; null for others. */
const outstandingIn = async (host: HostContext, threadId: string): Promise<AsksUnderWay | null> => {
  const underWay = await lookAt(
    host,
    threadId,
    (state) => (isIdle(state) && state.context.summarising === null ? null : asksUnderWay(state)),
    "some",
  );
  if (underWay !== null) return underWay;
  const items = (await host.store.inbox?.unanswered(threadId)) ?? [];
  return items.length > 0 ? { turn: null, queued: [] } : null;
};
