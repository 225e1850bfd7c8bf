import { type ChildProcess, fork } from "node:child_process";

import { sixteenth } from "../../test/runs.ts";
import type { Answer, Job, Setup } from "./messages.ts";

/**
 * One runner at a time, started again after each that ended or was killed. Each is the leader of a process group of its
 * own, which is killed as a whole when the runner is given up.
 */
export class Runner {
  readonly #setup: Setup;
  #process: ChildProcess | undefined;

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  /** One that says nothing for ten minutes is given up, as one whose tests never end. */
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
      // As in CI a snapshot that is missing is a failure, and not written.
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
    // It has ended.
  }
};
