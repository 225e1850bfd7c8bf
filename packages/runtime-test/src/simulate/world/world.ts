import { type VirtualClock, virtualClock } from "../../ports/virtual-clock.ts";
import type { Fault, Faults } from "./faults.ts";
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

/** A client that sometimes writes into values that it received, or passed to a call that is over. */
class Scribbling {
  readonly #comesOverHim: () => boolean;
  readonly #now: () => number;
  readonly #scribbler = new Scribbler();
  #handedIn: { readonly value: unknown; readonly at: number }[] = [];

  constructor(comesOverHim: () => boolean, now: () => number) {
    this.#comesOverHim = comesOverHim;
    this.#now = now;
  }

  /** Receives values from a host, or the arguments of a call that has returned, and may write into them. */
  given(...values: readonly unknown[]): void {
    if (!this.#comesOverHim()) return;
    this.#scribbler.visit(values);
    const [before, now] = [this.#handedIn, this.#now()];
    this.#handedIn = before.filter(({ at }) => at === now);
    for (const { value, at } of before) if (at < now) this.#scribbler.visit(value);
  }

  /** Returns a separate copy of a value to pass. It is written into only after some time has passed. */
  handsIn<Value>(value: Value): Value {
    const own = structuredClone(value);
    this.#handedIn.push({ value: own, at: this.#now() });
    return own;
  }
}

/**
 * A source of random numbers that a seed determines: sfc32 by Chris Doty-Humphrey (PractRand, public domain). The label
 * makes streams of one seed independent, so that more numbers in one place change nothing in another.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #count = 1;

  /** @param seed a whole number from 0 to 2^53 - 1 */
  constructor(seed: number, label: string) {
    this.#a = hash(label);
    this.#b = seed >>> 0;
    this.#c = Math.floor(seed / 2 ** 32) >>> 0;
    for (let round = 0; round < roundsToMix; round++) this.next();
  }

  /** Returns a number from 0 up to, but not including, 1. */
  next(): number {
    const sum = (this.#a + this.#b + this.#count) | 0;
    this.#count = (this.#count + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  }

  /** Returns true with this probability; for 0 it consumes no random number. */
  chance(probability: number): boolean {
    return probability > 0 && this.next() < probability;
  }

  /** Returns a whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** Returns one item of a list that is not empty. */
  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[Math.floor(this.next() * items.length)] ?? items[0];
  }
}

/** As many as the author uses for a seed of this size. */
const roundsToMix = 12;

/** FNV-1a, 32 bits. */
const hash = (text: string): number => {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
};

/**
 * The laws that a simulation checks on a host: those of the design, and `settles`: every request to a host ends, with a
 * result or with an error of a known type.
 */
export type Law =
  | `M${2 | 3 | 5 | 6 | 7 | 8 | 9 | 10 | 13}`
  | `P${1 | 3 | 4 | 8 | 10}`
  | `R${1 | 2 | 3 | 5}`
  | "settles";

/**
 * Error of a simulated conversation that broke a law. The same seed, with the same script and faults, breaks it again.
 */
export class SimulationError extends Error {
  override readonly name = "SimulationError";
  readonly law: Law;
  readonly what: string;
  readonly seed: number;
  /** How many crossings into or out of a host had happened. */
  readonly step: number;
  /** All events, a line each. */
  readonly trace: readonly string[];

  constructor(law: Law, what: string, seed: number, step: number, trace: readonly string[]) {
    super(
      `law ${law} is broken: ${what}\nseed ${seed}, step ${step}. What happened last:\n` +
        `${trace.slice(-linesShown).join("\n")}\n` +
        `To see it again: pnpm simulate --runs 1 --seed ${seed} (a script or faults of your own, if there were any, with it)`,
    );
    this.law = law;
    this.what = what;
    this.seed = seed;
    this.step = step;
    this.trace = trace;
  }
}

const linesShown = 30;

/** Error that is thrown on purpose, so that it differs from a mistake. */
export class SimulatedFailure extends Error {
  override readonly name = "SimulatedFailure";
}
