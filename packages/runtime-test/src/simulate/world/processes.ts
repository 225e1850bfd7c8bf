import type { Host } from "@colloquy/host";
import { SimulatedProcess } from "./process.ts";
import type { World } from "./world.ts";

/** How a host is put into a process. */
export type MakeHost = (process: SimulatedProcess) => Host;

/** The processes of a simulation: one that is there whenever it can be, and now and then a rival. */
export class Processes {
  /** All that there ever were. */
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

  /** One that can be asked for something; null while there is none. */
  reachable(): SimulatedProcess | null {
    const candidates = [this.#primary, ...(this.#rival === null ? [] : [this.#rival])].filter(isReachable);
    const [first, ...others] = candidates;
    return first === undefined ? null : this.#world.random.pick([first, ...others]);
  }

  /** What comes between two things that a user does. */
  disturb(): void {
    if (this.#world.hits("handover")) this.#handOver();
    // One that stands still is there all the same: it may hold the thread, and go on with it.
    if (this.#world.hits("rival") && this.#rival?.alive !== true) {
      this.#rival = this.#start("rival");
    }
  }

  /** The one that is there goes, and another comes in its place. */
  replace(): void {
    this.#handOver();
  }

  crash(): void {
    this.#primary.crash("as the script says");
  }

  pause(forMs: number): void {
    this.#primary.pause(forMs);
  }

  /** The rival goes, and its threads with it. */
  async sendRivalAway(): Promise<void> {
    const rival = this.#rival;
    this.#rival = null;
    if (rival?.alive !== true) return;
    rival.closing = true;
    await closed(rival);
  }

  /** Everybody goes. */
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
    // Some stores know at once that a holder is dead; elsewhere its lease has to run out.
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

/** A process that stands still, or dies, does not close in time, or ever. */
const closed = async (process: SimulatedProcess): Promise<void> => {
  const closing = process.host.close();
  process.unsettled.add(closing);
  const over = closing.finally(() => process.unsettled.delete(closing));
  await Promise.race([over, process.died]);
  if (process.alive) process.note("is closed");
};
