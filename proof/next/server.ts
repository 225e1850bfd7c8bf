import { join } from "node:path";

import { callerEnvironment } from "../../scripts/caller.ts";
import { Child } from "../kit/child.ts";
import { wordsOf } from "../kit/report.ts";

/** A command of Next in an app's folder. Next starts processes of its own, which are killed together. */
export class NextServer extends Child {
  readonly #lines: string[];

  constructor(app: string, args: readonly string[], variables: Readonly<Record<string, string>>) {
    const lines: string[] = [];
    const { OPENAI_API_KEY: _, OPENAI_BASE_URL: __, ...environment } = callerEnvironment();
    super([process.execPath, join(app, "node_modules/next/dist/bin/next"), ...args], {
      cwd: app,
      env: { ...environment, NEXT_TELEMETRY_DISABLED: "1", ...variables },
      leadsGroup: true,
      onLine: (line) => lines.push(line),
    });
    this.#lines = lines;
  }

  /** Resolves with its URL when it listens. */
  async url(): Promise<string> {
    const [, url = ""] = await this.said(/Local:\s+(http:\S+)/);
    await this.said(/Ready/);
    return url.replace("localhost", "127.0.0.1");
  }

  /** Awaits a call. If it fails, the error contains what this process printed. */
  async explained<A>(call: Promise<A>): Promise<A> {
    try {
      return await call;
    } catch (cause) {
      throw new Error(`${wordsOf(cause)}; Next printed:\n${this.#lines.join("\n")}`, { cause });
    }
  }
}
