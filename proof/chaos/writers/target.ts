// Lets several processes write one thread at once: each sends many asks at a time, and answers all asks while it has
// the lease. Stops the holder once past its lease, and then continues it. No ask may be lost or answered twice.
import { setTimeout as delay } from "node:timers/promises";

import { Child } from "../../kit/child.ts";
import { whole } from "../../kit/options.ts";
import { leavePlace, newPlace, openStore, type StorePlace } from "../../kit/places.ts";
import { childCommand, withProgram } from "../../kit/program.ts";
import { runSeeds, type SeededRun, timesOf } from "../../kit/report.ts";
import { commandOf } from "../../kit/target.ts";
import type { Fact } from "../story/facts.ts";
import { judge } from "../story/judge.ts";
import type { ChildOptions } from "./child.ts";
import { asksOf, machine, type Report, threadId } from "./thread.ts";

const processes = 4;
/** Its holder is stopped for twice as long. */
const leaseTtlMs = 1_000;

const writeTogether = async (
  program: string,
  store: StorePlace["type"],
  seed: number,
  asks: number,
): Promise<SeededRun> => {
  const place = newPlace(store, "chaos-writers");
  const shares = Array.from({ length: processes }, (_, index) => Math.floor((asks + index) / processes));
  const facts: Fact[] = [];
  const again: string[] = [];
  // Resolves when a third of the asks is answered.
  const underWay = Promise.withResolvers<void>();
  let answered = 0;
  const writers = shares.map(
    (share, index) =>
      new Writer(program, { place, writer: index + 1, asks: share, leaseTtlMs }, (report) => {
        if (report.type === "again") return void again.push(report.because);
        if (report.type !== "over") facts.push(report);
        answered += report.type === "answered" ? 1 : 0;
        if (answered * 3 >= asks) underWay.resolve();
      }),
  );
  try {
    const started = performance.now();
    const all = Promise.all(writers.map(({ done }) => done));
    await Promise.race([underWay.promise, all]);
    await stopHolder(writers, 2 * leaseTtlMs);
    await all;
    const seconds = (performance.now() - started) / 1000;
    await Promise.all(writers.map(({ child }) => child.leave()));
    const opened = openStore(place);
    const journal = await opened.read(threadId);
    await opened.close();
    const asked = shares.flatMap((share, index) => asksOf(index + 1, share));
    const repeated = timesOf(again.map((because) => `asks repeated because of ${because}`));
    const violations = judge({ journal, asked, facts, machine });
    return {
      seed,
      violations,
      counts: { entries: journal.length, ...repeated },
      seconds: { "to all answers": [seconds] },
    };
  } finally {
    for (const { child } of writers) child.signal("SIGKILL");
    await leavePlace(place);
  }
};

/** Stops the holder of the lease until the lease has expired and another process has it; then continues it. */
const stopHolder = async (writers: readonly Writer[], ms: number): Promise<void> => {
  const holder = writers.toSorted((one, other) => other.performedAt - one.performedAt)[0];
  holder?.child.signal("SIGSTOP");
  await delay(ms);
  holder?.child.signal("SIGCONT");
};

class Writer {
  /** The time of its last model call, when it had the lease. */
  performedAt = 0;
  readonly child: Child;
  /** Resolves when all of its asks are answered; rejects if it ends before. */
  readonly done: Promise<unknown>;

  constructor(program: string, options: ChildOptions, onReport: (report: Report) => void) {
    const onLine = (line: string): void => {
      // The child below writes these reports.
      const report = JSON.parse(line) as Report;
      if (report.type === "performed") this.performedAt = performance.now();
      onReport(report);
    };
    this.child = new Child(childCommand(program, options), { hasInput: true, onLine });
    this.done = this.child.said(/^\{"type":"over"\}$/);
    // The caller waits for all and sees the first rejection; the others must not count as unhandled.
    this.done.catch(() => undefined);
  }
}

export const command = commandOf({
  name: "writers",
  stores: ["sqlite", "files", "postgres", "redis"],
  faults: {},
  runs: [1, "the number of threads, one after the other"],
  options: {
    asks: whole(1_000, "of all processes together"),
  },
  run: ({ store, runs, seed }, { asks }) =>
    withProgram(new URL(import.meta.resolve("./child.ts")), (program) =>
      runSeeds(runs, seed, (each) => writeTogether(program, store, each, asks)),
    ),
});
