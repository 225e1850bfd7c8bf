import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

import { type ChildOptions, type Report, reportSchema } from "./talk.ts";

/** A process that writes the thread. */
export class Writer {
  /** Resolves when all of its asks are answered; rejects when it goes before that. */
  readonly done: Promise<void>;
  /** When it called the model last, in milliseconds of the process's time. */
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
        const report = reportSchema.parse(JSON.parse(line));
        if (report.type === "performs") this.performedAt = performance.now();
        if (report.type === "done") resolve();
        onReport(report);
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

  /** It stands still, wherever it is. */
  stop(): void {
    this.#child.kill("SIGSTOP");
  }

  /** Continues the process, as though nothing had happened. */
  goOn(): void {
    this.#child.kill("SIGCONT");
  }

  /** Lets the process release the thread and end. */
  async leave(): Promise<void> {
    this.#child.stdin?.end();
    await this.#gone;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}
