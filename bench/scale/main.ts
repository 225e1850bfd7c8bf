// Measures very many threads, a very long one, and very many asks: the figures of docs/scale.md. They hold for this
// machine only; the software determines only how they grow. Takes from seconds to an hour, depending on the arguments.
import { runCommand, type ValuesOf } from "../../proof/kit/command.ts";
import { databaseIn, newPlace, type ServerPlace, type StorePlace } from "../../proof/kit/places.ts";
import { someOf, whole, wholes } from "../../proof/kit/options.ts";
import { serverUrl } from "../../proof/kit/server-urls.ts";
import { restateProgram } from "../../proof/servers/restate-package.ts";
import type { IdleThreads } from "../idle-threads.ts";
import { reportOf } from "../kit/report.ts";
import { asksASecond } from "./asks.ts";
import { engineAsks } from "./engine-asks.ts";
import { engineAtRest } from "./engine-rest.ts";
import { waking } from "./engine-waking.ts";
import { longJournal } from "./long-journal.ts";
import { manyThreads } from "./many-threads.ts";
import { dropPlace } from "./place-facts.ts";
import type { Cost } from "./timing.ts";

/** How much is measured: numbers of threads and the like, ascending. */
const sizes = {
  threads: wholes([10_000, 100_000], "how many threads"),
  entries: wholes([10_000, 100_000], "how many entries of one thread"),
  processes: wholes([1, 2, 4], "how many processes ask at once"),
  seconds: whole(5, "how long they do"),
  outstanding: whole(64, "how many asks of each are out at a time"),
  lanes: wholes([1, 20], "how many asks of an engine are out at a time"),
  resting: wholes([2_000], "how many threads rest on an engine"),
  woken: wholes([100, 1_000], "how many entries the threads of an engine have that are woken"),
  wakings: whole(20, "how many threads of each kind are woken"),
} as const;

type Sizes = ValuesOf<typeof sizes>;

export interface Measured {
  readonly at: string;
  readonly costs: readonly Cost[];
}

export const measurements: { readonly [name: string]: (sizes: Sizes) => AsyncGenerator<Measured> } = {
  async *idle({ threads }) {
    for (const count of threads)
      yield {
        at: `${inWords(count)} threads of a process`,
        costs: [...(await idle(count, "evicted")), ...(await idle(count, "open"))],
      };
  },
  sqlite: ({ threads }) => threadsIn("sqlite", threads),
  postgres: ({ threads }) => threadsIn("postgres", threads),
  async *journal({ entries }) {
    const place = newPlace("sqlite", "scale");
    try {
      for (const count of entries)
        yield { at: `a thread of ${inWords(count)} entries`, costs: await longJournal(place, count) };
    } finally {
      await dropPlace(place);
    }
  },
  async *asks({ processes, seconds, outstanding }) {
    yield { at: "1 process, in memory", costs: await asksASecond(null, { processes: 1, seconds, outstanding }) };
    for (const count of processes) {
      const place = postgresPlace();
      try {
        yield {
          at: `${inWords(count)} processes`,
          costs: await asksASecond(place, { processes: count, seconds, outstanding }),
        };
      } finally {
        await dropPlace(place);
      }
    }
  },
  async *engine({ lanes, seconds, resting, woken, wakings }) {
    const redisUrl = serverUrl("redis");
    for (const url of redisUrl === null ? [null] : [redisUrl, null])
      for (const count of lanes)
        yield {
          at: `${inWords(count)} at a time ask an engine, ${url === null ? "and look what happens" : "and hear by a hub what happens"}`,
          costs: await engineAsks({ redisUrl: url, lanes: count, seconds }),
        };
    for (const count of resting)
      yield {
        at: `${inWords(count)} threads at rest on an engine`,
        costs: await engineAtRest({ threads: count, seconds, redisUrl }),
      };
    for (const entries of woken)
      for (const snapshotEvery of [64, 0])
        yield {
          at: `a thread of ${inWords(entries)} entries on an engine, ${snapshotEvery === 0 ? "without snapshots" : "with snapshots"}`,
          costs: await waking({ entries, snapshotEvery, wakings, redisUrl }),
        };
  },
};

async function* threadsIn(type: "sqlite" | "postgres", counts: readonly number[]): AsyncGenerator<Measured> {
  const place: StorePlace = type === "sqlite" ? newPlace(type, "scale") : postgresPlace();
  try {
    let filled = 0;
    for (const count of counts) {
      yield { at: `${inWords(count)} threads in ${type}`, costs: await manyThreads(place, filled, count) };
      filled = count;
    }
  } finally {
    await dropPlace(place);
  }
}

const postgresPlace = (): ServerPlace => {
  const place = newPlace("postgres", "scale");
  if (place.type !== "postgres") throw new Error("a place on PostgreSQL was asked for");
  return place;
};

const idle = async (count: number, mode: "evicted" | "open"): Promise<readonly Cost[]> => {
  const place = newPlace("sqlite", "scale");
  if (!("folder" in place)) throw new Error("a file was asked for");
  try {
    const script = new URL("../idle-threads.ts", import.meta.url);
    const { added, resident } = await reportOf<IdleThreads>(
      script,
      [databaseIn(place), String(count), mode],
      ["--expose-gc"],
    );
    const which = mode === "open" ? "still open" : "let go";
    return [
      { name: `memory of a thread that is ${which}`, value: added / count, unit: "bytes" },
      { name: `memory of the process, all ${which}`, value: resident / 1e6, unit: "MB" },
    ];
  } finally {
    await dropPlace(place);
  }
};

const inWords = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(value >= 1 ? 3 : 2).replace(/\.0+$/, "");

const names = Object.keys(measurements);

if (import.meta.main)
  await runCommand({
    name: "scale",
    options: {
      only: someOf(
        names,
        `only these: ${names.join(", ")} (postgres and asks need COLLOQUY_POSTGRES_URL; engine needs \`pnpm engines:install\`, and has a hub with COLLOQUY_REDIS_URL)`,
      ),
      ...sizes,
    },
    run: async ({ only, ...given }) => {
      for (const name of only) {
        if ((name === "postgres" || name === "asks") && serverUrl("postgres") === null) {
          console.log(
            `${name}: left out: COLLOQUY_POSTGRES_URL names no server; \`pnpm servers pnpm scale\` starts one`,
          );
          continue;
        }
        if (name === "engine" && restateProgram() === null) {
          console.log(`${name}: left out: there is no Restate; \`pnpm engines:install\` gets one`);
          continue;
        }
        for await (const { at, costs } of measurements[name]?.(given) ?? []) {
          console.log(at);
          for (const cost of costs)
            console.log(`  ${inWords(cost.value).padStart(9)} ${cost.unit.padEnd(12)} ${cost.name}`);
        }
      }
    },
  });
