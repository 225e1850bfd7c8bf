import { setTimeout as delay } from "node:timers/promises";

import { leavePlace, newPlace, openStore, type StorePlace } from "../kit/places.ts";
import { checkWriters } from "./check.ts";
import { askIdOf, type Report, threadId } from "./talk.ts";
import { Writer } from "./writer.ts";

export interface WritersOptions {
  readonly store: "sqlite" | "postgres";
  /** Of all processes together. */
  readonly asks: number;
  readonly processes: number;
  /** How many asks each process has out at a time. Default 32. */
  readonly outstanding?: number;
  /** Default 1,000. The process that is stopped stands still for twice as long. */
  readonly leaseTtlMs?: number;
}

/** The outcome of the writers. */
export interface Written {
  readonly problems: readonly string[];
  readonly entries: number;
  readonly seconds: number;
  /** How often an ask was rejected by what may pass, and asked again. */
  readonly again: number;
  /** Why, by how often. */
  readonly because: ReadonlyMap<string, number>;
}

/**
 * Has processes write one thread all at once, one of which is stopped past its lease and continued later. @throws where
 * there is no PostgreSQL to write to
 */
export const writeTogether = async (program: string, options: WritersOptions): Promise<Written> => {
  const place = newPlace(options.store, "writers");
  try {
    return await new Writing(program, options, place).write();
  } finally {
    await leavePlace(place);
  }
};

class Writing {
  readonly #options: Required<WritersOptions>;
  readonly #place: StorePlace;
  readonly #reports: Report[] = [];
  readonly #writers: readonly Writer[];
  readonly #asked: readonly string[];
  /** When a third of the asks is answered. */
  readonly #underWay: PromiseWithResolvers<void> = Promise.withResolvers();
  #answered = 0;

  constructor(program: string, given: WritersOptions, place: StorePlace) {
    const options = { outstanding: 32, leaseTtlMs: 1_000, ...given };
    this.#options = options;
    this.#place = place;
    const { asks, processes, outstanding, leaseTtlMs } = options;
    const shares = Array.from({ length: processes }, (_, index) => Math.floor((asks + index) / processes));
    this.#asked = shares.flatMap((count, index) =>
      Array.from({ length: count }, (_, ask) => askIdOf(index + 1, ask + 1)),
    );
    this.#writers = shares.map(
      (count, index) =>
        new Writer(program, { store: place, writer: index + 1, asks: count, outstanding, leaseTtlMs }, (report) =>
          this.#heard(report),
        ),
    );
  }

  async write(): Promise<Written> {
    const started = performance.now();
    try {
      const all = Promise.all(this.#writers.map(({ done }) => done));
      await Promise.race([this.#underWay.promise, all]);
      await this.#stopHolder();
      await all;
      const seconds = (performance.now() - started) / 1000;
      await Promise.all(this.#writers.map((writer) => writer.leave()));
      return await this.#judged(seconds);
    } catch (error) {
      for (const writer of this.#writers) writer.kill();
      throw error;
    }
  }

  /** Stops the process that has the lease until the lease has run out and another process has it; then continues it. */
  async #stopHolder(): Promise<void> {
    const [first, ...others] = this.#writers;
    if (first === undefined) return;
    const holder = others.reduce(
      (newest, writer) => (writer.performedAt > newest.performedAt ? writer : newest),
      first,
    );
    holder.stop();
    await delay(2 * this.#options.leaseTtlMs);
    holder.goOn();
  }

  #heard(report: Report): void {
    if (report.type === "performs") return;
    this.#reports.push(report);
    if (report.type !== "answered") return;
    this.#answered += 1;
    if (this.#answered * 3 >= this.#options.asks) this.#underWay.resolve();
  }

  async #judged(seconds: number): Promise<Written> {
    const store = openStore(this.#place);
    const stored = await store.read(threadId);
    await store.close();
    const again = this.#reports.flatMap((report) => (report.type === "again" ? [report.because] : []));
    const because = new Map<string, number>();
    for (const reason of again) because.set(reason, (because.get(reason) ?? 0) + 1);
    const problems = checkWriters(this.#asked, this.#reports, stored);
    return { problems, entries: stored.length, seconds, again: again.length, because };
  }
}
