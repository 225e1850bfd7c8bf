import { type ChildProcess, fork } from "node:child_process";

import { sixteenth } from "../../test/runs.ts";
import type { Answer, Job, Setup } from "./messages.ts";

/**
 * Keeps one runner at a time, and starts another after it ended or was killed. Each leads its own process group, which
 * is killed as a whole when the runner is given up.
 */
export class Runner {
  readonly #setup: Setup;
  #process: ChildProcess | undefined;

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  /** Runs a job. A runner that is silent for ten minutes is given up; its tests count as endless. */
  async run(job: Job): Promise<Answer> {
    const runner = this.#running();
    const answer = await answerOf(runner, job);
    if (answer.outcome !== "killed" && answer.outcome !== "survived") this.close();
    return answer;
  }

  close(): void {
    const pid = this.#process?.pid;
    this.#process = undefined;
    if (pid !== undefined) killGroup(pid);
  }

  #running(): ChildProcess {
    if (this.#process !== undefined && this.#process.connected && this.#process.exitCode === null) return this.#process;
    this.#process = fork(new URL("runner.ts", import.meta.url), [JSON.stringify(this.#setup)], {
      cwd: this.#setup.root,
      detached: true,
      execArgv: ["--max-old-space-size=1024"],
      // As in CI, a missing snapshot is a failure, and is not written.
      env: { ...process.env, CI: "true", COLLOQUY_RUNS: sixteenth },
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    return this.#process;
  }
}

const answerMinutesMax = 10;

const answerOf = (runner: ChildProcess, job: Job): Promise<Answer> =>
  new Promise((resolve) => {
    const settle = (answer: Answer): void => {
      clearTimeout(timer);
      runner.removeAllListeners();
      resolve(answer);
    };
    const timer = setTimeout(() => settle({ outcome: "timeout", by: "" }), answerMinutesMax * 60_000);
    runner.on("message", (answer: Answer) => settle(answer));
    runner.on("exit", (code, signal) =>
      settle({ outcome: "died", how: `the runner of the tests ended with ${signal ?? code}` }),
    );
    runner.on("error", ({ message }) => settle({ outcome: "unable", problem: message }));
    runner.send(job, (error) => {
      if (error !== null) settle({ outcome: "unable", problem: error.message });
    });
  });

const killGroup = (pid: number): void => {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The process has ended already.
  }
};
