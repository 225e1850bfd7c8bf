import { setTimeout as delay } from "node:timers/promises";

import { leavePlace, newPlace, openStore, type StorePlace } from "../../kit/places.ts";
import type { SeededRun } from "../../kit/seeded-runs.ts";
import type { Fact } from "../story/facts.ts";
import { judge } from "../story/judge.ts";
import { asksOf, machine, threadId } from "./thread.ts";
import { Writer } from "./writer.ts";

export interface WritersOptions {
  /** Of all processes together. */
  readonly asks: number;
  readonly processes: number;
  /** How many asks each process has out at a time. */
  readonly outstanding: number;
  /** The process that is stopped stands still for twice as long. */
  readonly leaseTtlMs: number;
}

/** The outcome of the writers. */
export interface Run extends SeededRun {
  readonly entries: number;
  readonly seconds: number;
  /** Why asks were rejected by what may pass, and asked again; one for each time. */
  readonly again: readonly string[];
}

/** Has processes write one thread all at once, one of which is stopped past its lease and continued later. */
export const writeTogether = async (
  program: string,
  store: StorePlace["type"],
  seed: number,
  options: WritersOptions,
): Promise<Run> => {
  const place = newPlace(store, "chaos-writers");
  const { processes, asks, leaseTtlMs } = options;
  const shares = Array.from({ length: processes }, (_, index) => Math.floor((asks + index) / processes));
  const facts: Fact[] = [];
  const again: string[] = [];
  // When a third of the asks is answered.
  const underWay = Promise.withResolvers<void>();
  let answered = 0;
  const writers = shares.map(
    (share, index) =>
      new Writer(program, { ...options, place, writer: index + 1, asks: share }, (report) => {
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
    await Promise.all(writers.map((writer) => writer.leave()));
    const opened = openStore(place);
    const journal = await opened.read(threadId);
    await opened.close();
    const asked = shares.flatMap((share, index) => asksOf(index + 1, share));
    return { seed, violations: judge({ journal, asked, facts, machine }), entries: journal.length, seconds, again };
  } finally {
    for (const writer of writers) writer.signal("SIGKILL");
    await leavePlace(place);
  }
};

/** Stops the process that has the lease until the lease has run out and another process has it; then continues it. */
const stopHolder = async (writers: readonly Writer[], ms: number): Promise<void> => {
  const holder = writers.toSorted((one, other) => other.performedAt - one.performedAt)[0];
  holder?.signal("SIGSTOP");
  await delay(ms);
  holder?.signal("SIGCONT");
};
