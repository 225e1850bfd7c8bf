import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { callerEnvironment } from "../../scripts/caller.ts";
import { wordsOf } from "../kit/report.ts";

/** Runs a command of Next in an app's folder. Returns its output and its end. */
export const runNext = async (app: string, command: string, variables: Variables): Promise<Ended> => {
  const server = new NextServer(app, [command], variables);
  await once(server.child, "close");
  return { code: server.child.exitCode, output: server.output };
};

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

type Variables = Readonly<Record<string, string>>;

export class NextServer {
  readonly child: ChildProcess;
  output = "";
  readonly #url = Promise.withResolvers<string>();

  constructor(app: string, args: readonly string[], variables: Variables) {
    const next = join(app, "node_modules/next/dist/bin/next");
    const { OPENAI_API_KEY: _, OPENAI_BASE_URL: __, ...environment } = callerEnvironment();
    this.child = spawn(process.execPath, [next, ...args], {
      cwd: app,
      env: { ...environment, NEXT_TELEMETRY_DISABLED: "1", ...variables },
      stdio: ["ignore", "pipe", "pipe"],
      // Next starts processes of its own, which are killed together.
      detached: true,
    });
    for (const stream of [this.child.stdout, this.child.stderr]) stream?.setEncoding("utf8").on("data", this.#read);
    this.child.once("close", () => this.#url.reject(new Error(`next ended before it listened:\n${this.output}`)));
    this.#url.promise.catch(() => undefined);
  }

  /** Resolves with its URL when it listens. */
  get url(): Promise<string> {
    return this.#url.promise;
  }

  /** Awaits a call. If it fails, the error contains what this process printed. */
  async explained<A>(call: Promise<A>): Promise<A> {
    try {
      return await call;
    } catch (cause) {
      throw new Error(`${wordsOf(cause)}; Next printed:\n${this.output}`, { cause });
    }
  }

  /** Kills it with all its processes, like a machine that fails. */
  async kill(): Promise<void> {
    const { pid, exitCode, signalCode } = this.child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    const closed = once(this.child, "close");
    process.kill(-pid, "SIGKILL");
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  readonly #read = (text: string): void => {
    this.output += text;
    const [, url] = /Local:\s+(http:\S+)/.exec(this.output) ?? [];
    if (url !== undefined && this.output.includes("Ready")) this.#url.resolve(url.replace("localhost", "127.0.0.1"));
  };
}
