import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { rolldown } from "rolldown";

import { Child } from "../kit/child.ts";
import { withFault } from "../kit/program.ts";
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
  #child: Child | null = null;
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
      plugins: withFault(mistakes, fault),
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
    // Its other output is remarks about its own alarms, for its developers.
    const child = new Child([program, ...args, "--control-fd=1"], { env: this.#environment });
    this.#child = child;
    const [, port] = await child.said(/"socket":"http","port":(\d+)/);
    this.#listens.resolve(`http://127.0.0.1:${port}`);
  }

  async kill(): Promise<void> {
    this.#listens = Promise.withResolvers();
    await this.#child?.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
