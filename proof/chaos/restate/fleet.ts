import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { type Balancer, startBalancer } from "./balancer.ts";
import type { WorkerOptions } from "./worker.ts";

/** Workers of an engine, each a process, behind one address. */
export interface Fleet {
  /** Where the engine finds them. */
  readonly url: string;
  /** Kills the worker of a place with SIGKILL. */
  readonly kill: (place: number) => Promise<void>;
  /** Starts another one there. */
  readonly restart: (place: number) => Promise<void>;
  /** Kills all of them. */
  readonly stop: () => Promise<void>;
}

interface FleetOptions {
  /** The file of a worker's program. */
  readonly program: string;
  readonly workers: number;
  readonly options: WorkerOptions;
  /** Where each leaves what it says of errors. */
  readonly folder: string;
  /** Called as a tool or a model call begins, with the place of its worker and its name. */
  readonly onRun: (place: number, what: string) => void;
}

/** Starts workers, and waits until they listen. */
export const startFleet = async (given: FleetOptions): Promise<Fleet> => {
  const balancer = await startBalancer(given.workers);
  const fleet = new Workers(given, balancer);
  await Promise.all(Array.from({ length: given.workers }, (_, place) => fleet.restart(place)));
  return fleet;
};

class Workers implements Fleet {
  readonly url: string;
  readonly #given: FleetOptions;
  readonly #balancer: Balancer;
  readonly #children = new Map<number, ChildProcess>();

  constructor(given: FleetOptions, balancer: Balancer) {
    this.#given = given;
    this.#balancer = balancer;
    this.url = `http://127.0.0.1:${balancer.port}`;
  }

  async kill(place: number): Promise<void> {
    const child = this.#children.get(place);
    if (child === undefined) return;
    this.#children.delete(place);
    this.#balancer.set(place, null);
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  }

  async restart(place: number): Promise<void> {
    const { program, options, folder, onRun } = this.#given;
    const errors = openSync(join(folder, `worker-${place}.log`), "a");
    // Its input ends when this process does, and then it ends as well.
    const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ["pipe", "pipe", errors] });
    closeSync(errors);
    const { stdout } = child;
    if (stdout === null) throw new Error("a worker was started without an output");
    this.#children.set(place, child);
    const port = await new Promise<number>((resolve, reject) => {
      child.once("exit", (code, signal) =>
        reject(new Error(`worker ${place} ended with ${code ?? signal ?? "?"} before it listened, see ${folder}`)),
      );
      createInterface(stdout).on("line", (line) => {
        const ready = /^listens on (\d+)$/u.exec(line);
        if (ready === null) onRun(place, line);
        else resolve(Number(ready[1]));
      });
    });
    this.#balancer.set(place, port);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#children.keys()].map((place) => this.kill(place)));
    await this.#balancer.close();
  }
}
