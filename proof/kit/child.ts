import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";

export interface ChildOptions {
  readonly cwd?: string;
  /** Default: the variables of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** The file for its standard error; null prints it. Default: `ChildEnd` has it. */
  readonly log?: string | null;
  /** Keeps its input open until `leave`, or the end of this process. Default: no input. */
  readonly hasInput?: boolean;
  /** It leads a process group, to which signals go. Default: they go to it alone. */
  readonly leadsGroup?: boolean;
  /** Kills it after this time. Default: no limit. */
  readonly secondsMax?: number;
  readonly onLine?: (line: string) => void;
}

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The child was killed because it took too long. */
  readonly hung: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

export class Child {
  /** Rejects if the process could not start. */
  readonly ended: Promise<ChildEnd>;
  readonly #child: ChildProcess;
  readonly #leadsGroup: boolean;
  readonly #onLine: (line: string) => void;
  readonly #listeners = new Set<(line: string) => void>();
  #stdout = "";
  #stderr = "";
  #rest = "";

  constructor([command, ...args]: readonly [string, ...string[]], options: ChildOptions = {}) {
    const { cwd, env = process.env, log, hasInput = false, secondsMax, onLine = () => undefined } = options;
    this.#leadsGroup = options.leadsGroup === true;
    const errors = log === undefined ? "pipe" : log === null ? "inherit" : openSync(log, "a");
    this.#onLine = onLine;
    const stdio = [hasInput ? "pipe" : "ignore", "pipe", errors] as const;
    this.#child = spawn(command, args, { cwd, env, stdio: [...stdio], detached: this.#leadsGroup });
    if (typeof errors === "number") closeSync(errors);
    this.#child.stdout?.setEncoding("utf8").on("data", this.#read);
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#stderr += text));
    this.ended = this.#end(secondsMax);
    // Only some callers await this.
    this.ended.catch(() => undefined);
  }

  /** Resolves with the first line that matches. @throws Error with its standard error if it ends before */
  async said(pattern: RegExp): Promise<RegExpExecArray> {
    const found = Promise.withResolvers<RegExpExecArray>();
    const look = (line: string): void => {
      const match = pattern.exec(line);
      if (match !== null) found.resolve(match);
    };
    this.#stdout.split("\n").slice(0, -1).forEach(look);
    this.#listeners.add(look);
    const ended = this.ended.then(({ code, signal, stderr }) => {
      throw new Error(`${this.#child.spawnargs.join(" ")} ended with ${signal ?? code}: ${stderr}`);
    });
    try {
      return await Promise.race([found.promise, ended]);
    } finally {
      this.#listeners.delete(look);
    }
  }

  signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (!this.#leadsGroup || pid === undefined) return void this.#child.kill(signal);
    try {
      process.kill(-pid, signal);
    } catch {
      // The whole group has ended.
    }
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, "exit");
    this.signal(signal);
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  /** Closes its input, so that it ends by itself, and waits for that. */
  async leave(): Promise<void> {
    this.#child.stdin?.end();
    await this.ended;
  }

  async #end(secondsMax: number | undefined): Promise<ChildEnd> {
    let hung = false;
    const kill = (): void => {
      hung = true;
      this.signal("SIGKILL");
    };
    const watchdog = secondsMax === undefined ? undefined : setTimeout(kill, secondsMax * 1000);
    try {
      // The types of `once` do not include an event's arguments.
      const [code, signal] = (await once(this.#child, "close")) as [number | null, NodeJS.Signals | null];
      return { code, signal, hung, stdout: this.#stdout, stderr: this.#stderr.trim() };
    } finally {
      clearTimeout(watchdog);
    }
  }

  readonly #read = (text: string): void => {
    this.#stdout += text;
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      this.#onLine(line);
      for (const listener of this.#listeners) listener(line);
    }
  };
}
