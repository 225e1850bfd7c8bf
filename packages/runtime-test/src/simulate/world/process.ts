import type { AskHandle, Clock, Host } from "@colloquy/host";
import type { World } from "./world.ts";

/** The acts of a process between acquiring the lease and releasing it, losing it, or dying. */
export interface Opening {
  readonly token: number;
  /** Frees the lease, as a store does that knows that its holder is dead. */
  readonly drop: () => Promise<unknown>;
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

interface Work {
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
  readonly died: Promise<void>;
  /** Whether it was asked to stop; it gets no more requests. */
  closing = false;
  opening: Opening | null = null;
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

/** The runs of tools, under their idempotency keys. */
export class ToolLedger {
  readonly runs: Map<string, readonly ToolRun[]> = new Map();

  begin(key: string, tool: string): ToolRun {
    const begun: ToolRun = { tool, returned: undefined };
    this.runs.set(key, [...this.of(key), begun]);
    return begun;
  }

  of(key: string): readonly ToolRun[] {
    return this.runs.get(key) ?? [];
  }
}

interface ToolRun {
  readonly tool: string;
  /** The returned value; undefined until the tool returns. */
  returned: unknown;
}

type MakeHost = (process: SimulatedProcess) => Host;

/** The processes of a simulation: a server that runs whenever it can, and sometimes a rival. */
export class Processes {
  readonly all: SimulatedProcess[] = [];
  readonly #world: World;
  readonly #makeHost: MakeHost;
  readonly #onCrash: (process: SimulatedProcess) => void;
  #primary: SimulatedProcess;
  #rival: SimulatedProcess | null = null;

  constructor(world: World, makeHost: MakeHost, onCrash: (process: SimulatedProcess) => void) {
    this.#world = world;
    this.#makeHost = makeHost;
    this.#onCrash = onCrash;
    this.#primary = this.#start("server");
  }

  /** Returns a process that accepts requests; null while there is none. */
  reachable(): SimulatedProcess | null {
    const candidates = [this.#primary, ...(this.#rival === null ? [] : [this.#rival])].filter(isReachable);
    const [first, ...others] = candidates;
    return first === undefined ? null : this.#world.random.pick([first, ...others]);
  }

  disturb(): void {
    if (this.#world.hits("handover")) this.replace();
    // A paused rival still exists: it may hold the thread, and continue it.
    if (this.#world.hits("rival") && this.#rival?.alive !== true) {
      this.#rival = this.#start("rival");
    }
  }

  crash(): void {
    this.#primary.crash("as the script says");
  }

  pause(forMs: number): void {
    this.#primary.pause(forMs);
  }

  /** Closes the rival, which releases its threads. */
  async sendRivalAway(): Promise<void> {
    const rival = this.#rival;
    this.#rival = null;
    if (rival?.alive !== true) return;
    rival.closing = true;
    await closed(rival);
  }

  async close(): Promise<void> {
    await this.sendRivalAway();
    const primary = this.#primary;
    primary.closing = true;
    if (primary.alive) await closed(primary);
  }

  #start(kind: "server" | "rival"): SimulatedProcess {
    const name = `${kind}-${this.all.length + 1}`;
    const process = new SimulatedProcess(this.#world, name, (dead) => this.#crashed(dead));
    process.host = this.#makeHost(process);
    this.all.push(process);
    process.note("starts");
    return process;
  }

  #crashed(dead: SimulatedProcess): void {
    if (dead === this.#primary) {
      void this.#restart(dead);
    }
    this.#onCrash(dead);
  }

  async #restart(dead: SimulatedProcess): Promise<void> {
    await this.#world.sleep(this.#world.random.whole(1, 200));
    // Some stores know at once that a holder is dead; in others its lease must expire.
    if (this.#world.random.chance(0.5)) await dead.opening?.drop();
    if (this.#primary === dead) this.#primary = this.#start("server");
  }

  /** Asks the server to stop, and starts another one. */
  replace(): void {
    const leaving = this.#primary;
    if (!isReachable(leaving)) return;
    leaving.note("is asked to stop");
    leaving.closing = true;
    void closed(leaving);
    this.#primary = this.#start("server");
  }
}

const isReachable = (process: SimulatedProcess): boolean => process.alive && !process.closing && !process.paused;

/** Closes a process. A paused one does not close in time, and a dead one never. */
const closed = async (process: SimulatedProcess): Promise<void> => {
  await Promise.race([process.expects(process.host.close()), process.died]);
  if (process.alive) process.note("is closed");
};
