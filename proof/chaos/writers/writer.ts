import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

import type { ChildOptions } from "./child.ts";
import type { Report } from "./thread.ts";

/** A process that writes the thread. */
export class Writer {
  /** Resolves when all of its asks are answered; rejects when it goes before that. */
  readonly done: Promise<void>;
  /** When it called the model last, in milliseconds of the process's time: then it had the lease. */
  performedAt = 0;
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;

  constructor(program: string, options: ChildOptions, onReport: (report: Report) => void) {
    const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ["pipe", "pipe", "pipe"] });
    const stderr = text(child.stderr);
    this.#child = child;
    this.#gone = new Promise((resolve) => child.once("exit", () => resolve()));
    this.done = new Promise((resolve, reject) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        // Our own child wrote it.
        const report = JSON.parse(line) as Report;
        if (report.type === "performed") this.performedAt = performance.now();
        if (report.type === "over") resolve();
        else onReport(report);
      });
      child.once("exit", (code, signal) => {
        const why = (words: string): Error =>
          new Error(`writer ${options.writer} ended with ${signal ?? code}: ${words.trim()}`);
        stderr.then(
          (words) => reject(why(words)),
          () => reject(why("")),
        );
      });
    });
    // The caller waits for all of them and sees the first rejection; the others must not count as unhandled.
    this.done.catch(() => undefined);
  }

  /** It stands still, wherever it is; or continues, as though nothing had happened; or is gone. */
  signal(signal: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void {
    this.#child.kill(signal);
  }

  /** Lets the process release the thread and end. */
  async leave(): Promise<void> {
    this.#child.stdin?.end();
    await this.#gone;
  }
}
