// A small world in which nothing happens by itself: each call of a store, a model or a tool waits until the schedule
// says what becomes of it, time passes only when the schedule lets it, and processes die or stand still where it says.
import type { Clock, Host } from "@colloquy/host";

import { Digest } from "./digest.ts";

/** The outcome of a call. */
export type Outcome =
  | "answered"
  /** Nothing is done, and the caller gets an error. */
  | "failed"
  /** It is done, and the caller gets an error. */
  | "lost"
  /** It is done twice, and the caller gets the second answer. */
  | "repeated"
  /** It is done; its answer waits. */
  | "late"
  /** It waits, and is done later. */
  | "held";

/** A call that left a host and is not answered. */
export interface Call {
  readonly process: Process;
  readonly what: string;
  readonly kind: "read" | "write" | "work";
  readonly number: number;
  readonly perform: () => Promise<Answer>;
  readonly settle: (answer: Answer) => void;
  /** Set while the call or its answer is kept back. */
  kept: { readonly until: number; readonly answer: Promise<Answer> | null } | null;
}

export type Answer = { readonly value: unknown; readonly digest?: string } | { readonly error: unknown };

interface Timer {
  readonly dueAt: number;
  readonly number: number;
  readonly callback: () => void;
}

/** One process with a host in it. A host is a function of what it was given, so a digest of that stands for it. */
export class Process {
  readonly name: string;
  readonly digest: Digest;
  readonly calls: Call[] = [];
  readonly timers: Timer[] = [];
  readonly clock: Clock;
  alive = true;
  /** The time until which it stands still; null while it runs. */
  standsUntil: number | null = null;
  readonly #world: World;
  #numbers = 0;
  #drawn = 0;
  #host: Host | null = null;

  constructor(world: World, name: string, life: number) {
    this.#world = world;
    this.name = name;
    this.digest = new Digest(`${name} ${life}`);
    this.clock = { now: () => world.now, wakeAt: (dueAt, callback) => this.#wakeAt(dueAt, callback) };
  }

  get host(): Host {
    if (this.#host === null) throw new Error(`process ${this.name} has no host yet`);
    return this.#host;
  }

  /** Set after the process was made: the host is made from its parts. */
  set host(host: Host) {
    this.#host = host;
  }

  draw(kind: string, life: number): string {
    return `${this.name}${life}-${kind}-${++this.#drawn}`;
  }

  /** Notes what the host is given, and when. */
  given(what: string): void {
    this.digest.add(`${this.#world.now} ${what}`);
  }

  /** Returns the answer that a call will have; a dead process never gets one. */
  call<Value>(
    what: string,
    kind: Call["kind"],
    perform: () => Value | Promise<Value>,
    digestOf: (value: Value) => string = (value) => JSON.stringify(value) ?? "",
  ): Promise<Value> {
    return new Promise((resolve, reject) => {
      const number = ++this.#numbers;
      const settle = (answer: Answer): void => {
        if (!this.alive) return;
        this.given(`${number} ${what} ${"error" in answer ? String(answer.error) : (answer.digest ?? "")}`);
        // The value is that of `perform`.
        if ("error" in answer) reject(answer.error);
        else resolve(answer.value as Value);
      };
      const performed = async (): Promise<Answer> => {
        try {
          const value = await perform();
          return { value, digest: digestOf(value) };
        } catch (error) {
          return { error };
        }
      };
      this.calls.push({ process: this, what, kind, number, perform: performed, settle, kept: null });
    });
  }

  get nextTimer(): Timer | undefined {
    return this.timers[0];
  }

  fire(): void {
    const timer = this.timers.shift();
    if (timer === undefined) return;
    this.given(`timer ${timer.number}`);
    timer.callback();
  }

  #wakeAt(dueAt: number, callback: () => void): () => void {
    const timer = { dueAt, number: ++this.#numbers, callback };
    const behind = this.timers.findIndex((other) => other.dueAt > dueAt);
    this.timers.splice(behind < 0 ? this.timers.length : behind, 0, timer);
    return () => {
      const index = this.timers.indexOf(timer);
      if (index >= 0) this.timers.splice(index, 1);
    };
  }
}

/** The time of a world, and what breaks a law in it. */
export class World {
  now = 1_000_000;
  broken: string | null = null;

  breaks(what: string): void {
    this.broken ??= what;
  }
}

/** The error of a call that the schedule lets fail. */
export class Failure extends Error {}

/** Does to a call what the schedule says. */
export const become = async (call: Call, outcome: Outcome, until: number): Promise<void> => {
  const { process, settle, what } = call;
  if (outcome === "held") {
    call.kept = { until, answer: null };
    return;
  }
  if (outcome === "late") {
    call.kept = { until, answer: call.perform() };
    return;
  }
  const index = process.calls.indexOf(call);
  if (index >= 0) process.calls.splice(index, 1);
  if (outcome === "failed") return settle({ error: new Failure(`no answer (${what})`) });
  const first = await (call.kept?.answer ?? call.perform());
  if (outcome === "lost") return settle({ error: new Failure(`no answer (${what})`) });
  settle(outcome === "repeated" ? await call.perform() : first);
};
