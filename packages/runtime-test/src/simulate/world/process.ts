import type { AskHandle, Clock, Host } from "@colloquy/host";
import type { World } from "./world.ts";

/** The acts of a process between acquiring the lease and releasing it, losing it, or dying. */
export interface Opening {
  readonly token: number;
  /** Frees the lease, as a store does that knows that its holder is dead. */
  readonly drop: () => Promise<void>;
  /** The ids of the model calls and tool calls that it made, with their number. */
  readonly performed: Map<string, number>;
  /** The time at which the lease expires, as far as the process can know. */
  until: number;
  /** Whether it has read the journal. */
  loaded: boolean;
  over: boolean;
  /** Whether the lease had expired when the process released it: unfinished work belongs to the next owner. */
  lapsed: boolean;
  /** Whether another process took the thread after it. */
  superseded: boolean;
}

/** A model or a tool that is working for a process. */
export interface Work {
  readonly id: string;
  /** The kind of its work: an answer, a summary in the background, or a tool call. */
  readonly type: "answer" | "summary" | "callTool";
  readonly signal: AbortSignal;
}

/**
 * A process with a host in it. It can be paused, and it can die at any crossing into or out of the host. From then on
 * no act of the host reaches the world, and nothing reaches the host.
 */
export class SimulatedProcess {
  readonly name: string;
  readonly clock: Clock;
  readonly work: Set<Work> = new Set();
  /** Asks, and other calls of the host, that have not settled yet. */
  readonly unsettled: Set<AskHandle | Promise<unknown>> = new Set();
  alive = true;
  /** Resolves when it dies. */
  readonly died: Promise<void>;
  /** Whether it was asked to stop; it gets no more requests. */
  closing = false;
  opening: Opening | null = null;
  /** How often it opened the thread. */
  openings = 0;
  /** How often it was paused. */
  pauses = 0;
  /** The seq of the newest entry that the host knows to be stored. */
  knows = -1;
  readonly #world: World;
  readonly #onCrash: (process: SimulatedProcess) => void;
  readonly #death: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #alarms: Set<() => void> = new Set();
  #pausedUntil = 0;
  #host: Host | null = null;

  constructor(world: World, name: string, onCrash: (process: SimulatedProcess) => void) {
    this.#world = world;
    this.name = name;
    this.#onCrash = onCrash;
    this.died = this.#death.promise;
    this.clock = { now: () => world.clock.now(), wakeAt: (dueAt, callback) => this.#wakeAt(dueAt, callback) };
  }

  get host(): Host {
    if (this.#host === null) throw new Error(`process ${this.name} has no host yet`);
    return this.#host;
  }

  /** Set after the process was made: the host is made from its parts. */
  set host(host: Host) {
    this.#host = host;
  }

  get paused(): boolean {
    return this.#pausedUntil > this.#world.clock.now();
  }

  /** How many wake-ups the host has requested that are still to come. */
  get alarms(): number {
    return this.#alarms.size;
  }

  /** Notes a call of the host until it settles. */
  expects<Call extends AskHandle | Promise<unknown>>(call: Call): Call {
    this.unsettled.add(call);
    const over = (): unknown => this.unsettled.delete(call);
    call.then(over, over);
    return call;
  }

  note(what: string): void {
    this.#world.note(this.name, what);
  }

  /** Marks a crossing into or out of the host. Returns false if the process is dead, so that nothing gets through. */
  crosses(what: string): boolean {
    if (!this.alive) return false;
    if (this.#world.crosses()) {
      this.crash(what);
      return false;
    }
    if (this.#world.hits("pause")) this.pause(this.#world.random.whole(50, 1500));
    return true;
  }

  crash(when: string): void {
    if (!this.alive) return;
    this.note(`dies (${when})`);
    this.alive = false;
    for (const cancel of this.#alarms) cancel();
    this.#alarms.clear();
    this.#death.resolve();
    this.#onCrash(this);
  }

  pause(ms: number): void {
    this.note(`stands still for ${ms} ms`);
    this.pauses++;
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#world.clock.now() + ms);
  }

  /** Waits for something outside. It ends late when the process is paused, and never when it died. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.#wakeAt(this.clock.now() + ms, resolve));
  }

  #wakeAt(dueAt: number, callback: () => void): () => void {
    if (!this.alive) return () => undefined;
    const { clock } = this.#world;
    const ring = (): void => {
      if (this.paused) {
        cancel = clock.wakeAt(this.#pausedUntil, ring);
        return;
      }
      this.#alarms.delete(forget);
      callback();
    };
    let cancel = clock.wakeAt(dueAt, ring);
    const forget = (): void => {
      cancel();
      this.#alarms.delete(forget);
    };
    this.#alarms.add(forget);
    return forget;
  }
}

/** Returns a promise that never settles, for a dead process. */
export const never = (): Promise<never> => new Promise(() => undefined);
