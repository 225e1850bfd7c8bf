import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

import { rolldown } from "rolldown";

import { type Fault, seedFault } from "./worker-faults.ts";

/** The program to run in workerd, and the folder of its objects' storage. */
export interface WorkerOptions {
  readonly root: string;
  /** The program itself. */
  readonly program: string;
  /** The worker's source, from the root. */
  readonly entry: string;
  /** For what is put together here, and for the storage of objects. */
  readonly folder: string;
  /** Other modules in the place of some, by what imports call them. */
  readonly alias?: Readonly<Record<string, string>>;
  /** A mistake to build into the example. */
  readonly fault?: Fault | null;
  /** Changes the example's configuration. */
  readonly configure?: (text: string) => string;
}

/** A worker with the configuration of the example: its process is started, killed, and started again on the same disk. */
export class Workerd {
  readonly #options: WorkerOptions;
  readonly #environment: Readonly<Record<string, string>>;
  #child: ChildProcess | null = null;
  #listens = Promise.withResolvers<string>();

  private constructor(options: WorkerOptions, environment: Readonly<Record<string, string>>) {
    this.#options = options;
    this.#environment = environment;
  }

  /** Bundles the worker as a user's tool does, and starts it. */
  static async start(options: WorkerOptions, environment: Readonly<Record<string, string>> = {}): Promise<Workerd> {
    const { root, entry, folder, alias = {}, fault = null, configure = (text) => text } = options;
    const bundle = await rolldown({
      input: join(root, entry),
      platform: "browser",
      external: [/^node:/],
      resolve: { alias },
      plugins: fault === null ? [] : [seedFault(fault)],
    });
    await bundle.write({ file: join(folder, "worker.js"), format: "es", codeSplitting: false });
    await bundle.close();
    const config = readFileSync(join(root, "examples/25-cloudflare-worker/config.capnp"), "utf8");
    writeFileSync(join(folder, "config.capnp"), configure(config));
    mkdirSync(join(folder, "disk"), { recursive: true });
    const workerd = new Workerd(options, environment);
    await workerd.again();
    return workerd;
  }

  /** Where it listens, once it does: after a death, the next process. */
  get url(): Promise<string> {
    return this.#listens.promise;
  }

  /** Starts the process. */
  async again(): Promise<void> {
    const { program, folder } = this.#options;
    const args = ["serve", join(folder, "config.capnp"), `--directory-path=disk=${join(folder, "disk")}`];
    const child = spawn(program, [...args, "--control-fd=3"], {
      env: this.#environment,
      stdio: ["ignore", "inherit", "pipe", "pipe"],
    });
    this.#child = child;
    // Its notes about its own alarms are for its developers.
    if (child.stderr !== null)
      createInterface(child.stderr).on("line", (line) => {
        if (!line.includes("NOSENTRY")) console.error(line);
      });
    this.#listens.resolve(await listening(child));
  }

  /** As a machine that fails: nothing in the process gets to do anything more. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#child = null;
    this.#listens = Promise.withResolvers();
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

/** It says at which port it listens. */
const listening = async (child: ChildProcess): Promise<string> => {
  // The fourth of `stdio`, which is a pipe to be read.
  const control = child.stdio[3] as Readable;
  for await (const chunk of control) {
    const [, port] = /"socket":"http","port":(\d+)/.exec(String(chunk)) ?? [];
    if (port !== undefined) return `http://127.0.0.1:${port}`;
  }
  throw new Error("workerd ended before it listened");
};
