import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";

interface ServedOptions {
  readonly args?: readonly string[];
  /** Added to the variables of this process. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The file that gets its errors. Default: they are those of this process. */
  readonly log?: string;
}

/** A server that is killed and started again. It prints its URL when it listens. */
export class Served {
  readonly #program: string;
  readonly #options: ServedOptions;
  #child: ChildProcess | null = null;
  #url: string | null = null;

  constructor(program: string, options: ServedOptions) {
    this.#program = program;
    this.#options = options;
  }

  /** Null while it is away. */
  get url(): string | null {
    return this.#url;
  }

  /** Resolves with its URL when it listens. */
  async start(): Promise<string> {
    const { args = [], variables = {}, log } = this.#options;
    const errors = log === undefined ? "inherit" : openSync(log, "a");
    const child = spawn(process.execPath, [this.#program, ...args], {
      stdio: ["ignore", "pipe", errors],
      env: { ...process.env, ...variables },
    });
    if (errors !== "inherit") closeSync(errors);
    this.#child = child;
    const exited = once(child, "exit").then(() => Promise.reject(new Error(`${this.#program} did not start`)));
    exited.catch(() => {});
    const line: Promise<readonly unknown[]> = once(child.stdout ?? child, "data");
    const [url] = await Promise.race([line, exited]);
    return (this.#url = String(url).trim());
  }

  /** Ends it by a signal, and waits for its end. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    this.#url = null;
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
    this.#child = null;
  }
}
