import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** One of our scripts in its own process, which sends messages. */
export class Reporter {
  readonly ended: Promise<unknown>;
  readonly #child: ChildProcess;

  constructor(script: URL, args: readonly string[] = [], nodeOptions: readonly string[] = []) {
    this.#child = spawn(process.execPath, [...nodeOptions, script.pathname, ...args], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.ended = once(this.#child, "exit");
  }

  /** Sends a message if there is one, and resolves with the next message of the script. @throws Error if it ends instead */
  async next<Message>(sent?: object | string): Promise<Message> {
    const over = new AbortController();
    const died = once(this.#child, "exit", over).then(([code]) => {
      throw new Error(`a process that measures ended with ${String(code)} and said nothing`);
    });
    // Ignored: the process may end later.
    died.catch(() => undefined);
    const said = once(this.#child, "message", over);
    if (sent !== undefined) this.#child.send(sent);
    try {
      // Cast: our own process sends nothing else.
      const [message] = (await Promise.race([said, died])) as [Message];
      return message;
    } finally {
      over.abort();
    }
  }

  /** Disconnects, which our scripts end at, or after a last message; and waits for the end. */
  async end(last?: string): Promise<void> {
    if (last !== undefined && this.#child.connected) this.#child.send(last);
    else if (this.#child.connected) this.#child.disconnect();
    await this.ended;
  }
}

export const reportOf = async <Report>(
  script: URL,
  args: readonly string[],
  nodeOptions: readonly string[] = [],
): Promise<Report> => {
  const reporter = new Reporter(script, args, nodeOptions);
  const report = await reporter.next<Report>();
  await reporter.ended;
  return report;
};
