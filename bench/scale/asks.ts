// Measures the asks a second of several processes on one PostgreSQL, with a model that answers at once, and the costs
// of an ask: CPU of the asking process and of the server, calls of the store, commits, and log.
import type { ServerPlace } from "../../proof/kit/places.ts";
import { Reporter } from "../kit/report.ts";
import type { Asked, AskerOptions } from "./asker.ts";
import { workOf } from "./place-facts.ts";
import type { Cost } from "./timing.ts";

export interface AsksOptions {
  readonly processes: number;
  readonly seconds: number;
  readonly outstanding: number;
}

const turns = 10;

export const asksASecond = async (place: ServerPlace | null, options: AsksOptions): Promise<readonly Cost[]> => {
  const { processes, seconds, outstanding } = options;
  const children = Array.from({ length: processes }, (_, number) =>
    asker({ place, seconds, outstanding, turns, prefix: `${Date.now()}-${number}` }),
  );
  try {
    await Promise.all(children.map((child) => child.next<"warm">()));
    const before = place === null ? null : await workOf(place);
    const all = await Promise.all(children.map((child) => child.next<Asked>("count")));
    const after = place === null ? null : await workOf(place);
    const asks = sum(all.map((each) => each.asks));
    const each = (value: number): number => value / asks;
    const names = [...new Set(all.flatMap(({ calls }) => Object.keys(calls)))].sort();
    return [
      { name: "asks a second, of all processes", value: sum(all.map((one) => one.asks / one.seconds)), unit: "" },
      { name: "CPU of the processes", value: each(sum(all.map(({ micros }) => micros))), unit: "µs an ask" },
      ...(before === null || after === null
        ? []
        : [
            { name: "CPU of the server", value: each(after.micros - before.micros), unit: "µs an ask" },
            { name: "commits", value: each(after.commits - before.commits), unit: "an ask" },
            { name: "write-ahead log", value: each(after.logged - before.logged), unit: "bytes an ask" },
          ]),
      ...names.map((name) => ({
        name: `calls of ${name}`,
        value: each(sum(all.map(({ calls }) => calls[name] ?? 0))),
        unit: "an ask",
      })),
    ];
  } finally {
    await Promise.all(children.map((child) => child.end("go")));
  }
};

const asker = (options: AskerOptions): Reporter =>
  new Reporter(new URL("asker.ts", import.meta.url), [JSON.stringify(options)]);

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
