import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

import { rolldown } from "rolldown";

import { withMistakes } from "../kit/program.ts";
import { type Fault, mistakes } from "./worker-faults.ts";

export interface WorkerOptions {
  readonly root: string;
  readonly program: string;
  /** The worker's source, from the root. */
  readonly entry: string;
  /** The folder for the bundle and for the storage of objects. */
  readonly folder: string;
  /** Replacements of modules, by the names that imports use. */
  readonly alias?: Readonly<Record<string, string>>;
  /** The fault to build into the example. */
  readonly fault?: Fault | null;
  readonly configure?: (text: string) => string;
}

/** A worker with the example's configuration. Its process can be killed and started again on the same disk. */
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
      plugins: fault === null ? [] : [withMistakes([mistakes[fault]])],
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

  /** Resolves with the URL of the process, or of the next one after a kill. */
  get url(): Promise<string> {
    return this.#listens.promise;
  }

  async again(): Promise<void> {
    const { program, folder } = this.#options;
    const args = ["serve", join(folder, "config.capnp"), `--directory-path=disk=${join(folder, "disk")}`];
    const child = spawn(program, [...args, "--control-fd=3"], {
      env: this.#environment,
      stdio: ["ignore", "inherit", "pipe", "pipe"],
    });
    this.#child = child;
    // Its remarks about its own alarms are for its developers.
    if (child.stderr !== null)
      createInterface(child.stderr).on("line", (line) => {
        if (!line.includes("NOSENTRY")) console.error(line);
      });
    this.#listens.resolve(await listening(child));
  }

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

/** Resolves with the URL once it reports its port. */
const listening = async (child: ChildProcess): Promise<string> => {
  // The fourth of `stdio`, a pipe to read.
  const control = child.stdio[3] as Readable;
  for await (const chunk of control) {
    const [, port] = /"socket":"http","port":(\d+)/.exec(String(chunk)) ?? [];
    if (port !== undefined) return `http://127.0.0.1:${port}`;
  }
  throw new Error("workerd ended before it listened");
};
