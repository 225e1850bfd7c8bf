import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

import type { ChildOptions } from "./talk.ts";

/** A server that is killed and started again. */
export class Served {
  readonly #program: string;
  readonly #options: ChildOptions;
  #child: ChildProcess | null = null;
  #port: number | null = null;

  constructor(program: string, options: ChildOptions) {
    this.#program = program;
    this.#options = options;
  }

  /** Null while it is away. */
  get url(): string | null {
    return this.#port === null ? null : `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [this.#program, JSON.stringify(this.#options)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#child = child;
    const exited = once(child, "exit").then(() => Promise.reject(new Error(`${this.#options.name} did not start`)));
    exited.catch(() => {});
    const line: Promise<readonly unknown[]> = once(child.stdout, "data");
    const [port] = await Promise.race([line, exited]);
    this.#port = Number(String(port));
  }

  async kill(): Promise<void> {
    this.#port = null;
    const child = this.#child;
    if (child === null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    this.#child = null;
  }
}
