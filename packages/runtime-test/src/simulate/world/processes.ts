import type { Host } from "@colloquy/host";
import { SimulatedProcess } from "./process.ts";
import type { World } from "./world.ts";

/** Makes the host in a process. */
export type MakeHost = (process: SimulatedProcess) => Host;

/** The processes of a simulation: a server that runs whenever it can, and sometimes a rival. */
export class Processes {
  /** All processes so far. */
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

  /** Causes faults between two actions of a user. */
  disturb(): void {
    if (this.#world.hits("handover")) this.#handOver();
    // A paused rival still exists: it may hold the thread, and continue it.
    if (this.#world.hits("rival") && this.#rival?.alive !== true) {
      this.#rival = this.#start("rival");
    }
  }

  /** Replaces the server. */
  replace(): void {
    this.#handOver();
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

  /** Closes all processes. */
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

  #handOver(): void {
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
