import { type VirtualClock, virtualClock } from "../../ports/virtual-clock.ts";
import type { Fault, Faults } from "./faults.ts";
import { type Law, SimulationError } from "./simulation-error.ts";
import { Random } from "./random.ts";
import { Scribbler } from "../../scribbling/scribble.ts";

/** The world of a simulated conversation: its time, its random faults, and its trace. */
export class World {
  readonly seed: number;
  readonly clock: VirtualClock = virtualClock();
  /** For the store and the processes, which are not part of the conversation itself. */
  readonly random: Random;
  readonly trace: string[] = [];
  /** How often each fault happened. */
  readonly hit: Map<Fault, number> = new Map();
  /** Whether entries were rewritten while a reader without a lease may have been reading. */
  hasRewritten = false;
  /** How many crossings into or out of a host have happened. */
  step = 0;
  /** Whether faults have stopped. */
  calm = false;
  /** The receivers and callers that write into values. */
  readonly scribbling: Scribbling;
  readonly #faults: Faults;
  readonly #crashAt: ReadonlySet<number>;
  readonly #startedAt: number;
  readonly #broken: PromiseWithResolvers<never> = Promise.withResolvers();

  constructor(seed: number, faults: Faults, crashAt: readonly number[]) {
    this.seed = seed;
    this.random = new Random(seed, "world");
    this.#faults = faults;
    const whims = new Random(seed, "scribbles");
    this.scribbling = new Scribbling(
      () => this.hits("scribbles", whims),
      () => this.clock.now(),
    );
    this.#crashAt = new Set(crashAt);
    this.#startedAt = this.clock.now();
    // Only `run` reads it; before that it must not count as unhandled.
    this.#broken.promise.catch(() => undefined);
  }

  /** Returns whether a fault happens here. */
  hits(fault: Fault, random: Random = this.random): boolean {
    const hit = !this.calm && random.chance(this.#faults[fault]);
    if (hit) this.count(fault);
    return hit;
  }

  count(fault: Fault): void {
    this.hit.set(fault, (this.hit.get(fault) ?? 0) + 1);
  }

  /** Counts a crossing into or out of a host. Returns whether its process dies there. */
  crosses(): boolean {
    this.step++;
    if (!this.#crashAt.has(this.step)) return this.hits("crash");
    this.count("crash");
    return true;
  }

  note(who: string, what: string): void {
    this.trace.push(`${this.clock.now() - this.#startedAt} ms ${who}: ${what}`);
  }

  /** Ends the simulation with a broken law; only the first one counts. */
  breaks(law: Law, what: string): void {
    this.#broken.reject(new SimulationError(law, what, this.seed, this.step, [...this.trace]));
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.wakeAt(this.clock.now() + ms, resolve));
  }

  /** Lets time pass until the play has ended. @throws SimulationError */
  async run(play: Promise<void>): Promise<void> {
    const watch = this.clock.wakeAt(this.#startedAt + simulatedMsMax, () => {
      this.breaks("settles", `after ${simulatedMsMax} ms it is still not at an end`);
    });
    await this.clock.runUntil(Promise.race([play, this.#broken.promise]));
    watch();
  }
}

/** Far more than any conversation takes: an hour of virtual time. */
const simulatedMsMax = 3_600_000;

/**
 * A client that sometimes writes into the values that it receives, and into the values that it passed, after the call.
 */
class Scribbling {
  readonly #comesOverHim: () => boolean;
  readonly #now: () => number;
  readonly #scribbler = new Scribbler();
  #handedIn: { readonly value: unknown; readonly at: number }[] = [];

  constructor(comesOverHim: () => boolean, now: () => number) {
    this.#comesOverHim = comesOverHim;
    this.#now = now;
  }

  /** Receives values, and may write into them. */
  given(...values: readonly unknown[]): void {
    if (!this.#comesOverHim()) return;
    this.#scribbler.visit(values);
    const [before, now] = [this.#handedIn, this.#now()];
    this.#handedIn = before.filter(({ at }) => at === now);
    for (const { value, at } of before) if (at < now) this.#scribbler.visit(value);
  }

  /**
   * Returns a separate copy of a value to pass. If an async function returns the copy, it is written into only after
   * some time has passed, when the receiver has read it.
   */
  handsIn<Value>(value: Value): Value {
    const own = structuredClone(value);
    this.#handedIn.push({ value: own, at: this.#now() });
    return own;
  }

  /** Notes that the call with these arguments has returned, and may write into them. */
  handedIn(...values: readonly unknown[]): void {
    if (this.#comesOverHim()) this.#scribbler.visit(values);
  }
}
