// Measures the CPU of a turn in a process that has just started, beside the same work with other libraries. The
// packages are those of `node scripts/build.ts`. Each job has its own process. The sides of a figure alternate, and
// each round gives a ratio. Only CPU counts, so a busy machine changes the figures little.
import { randomUUID } from "node:crypto";
import { serverUrl, serverVariables } from "../proof/kit/server-urls.ts";
import type { Costs, Job, SideName } from "./cold/child.ts";
import { schema } from "./cold/side.ts";
import { onFile } from "./kit/hosts.ts";
import { withInstalled } from "./kit/installed.ts";
import { type Figure, median, short } from "./kit/measure.ts";
import { reportOf } from "./kit/report.ts";
import { dropPlace } from "./scale/place-facts.ts";

export const benchmark = (rounds: number): Promise<readonly Figure[]> =>
  withInstalled(async (folder) => [
    // Three times as many of two, since they are short: in one of them, a collection of garbage, or what else the
    // machine does, can double a figure.
    ...(await inMemory({ folder, rounds: rounds * 3 })),
    ...(await onSqlite({ folder, rounds })),
    ...(await onPostgres({ folder, rounds: rounds * 3 })),
    ...(await manyThreads({ folder, rounds })),
  ]);

/** The conditions of a run. The packages are installed in the folder. */
interface Run {
  readonly folder: string;
  readonly rounds: number;
}

/** The long thread of each side, and its number of turns. */
const thread = "long";
const turns = 1_100;

const inMemory = async (run: Run): Promise<readonly Figure[]> => {
  const sides: readonly SideName[] = ["machine", "host", "host, a window", "XState", "AI SDK"];
  const measured = await measure(run, () =>
    // Each side gets the same CPU time, so a faster one does more turns.
    sides.map((side) => ({ does: "turns", side, place: "", warmUpThreads: 40, micros: 600_000, thread })),
  );
  const xstate = (mark: number): Cost => ["XState", mark];
  const aiSdk = (mark: number): Cost => ["AI SDK", mark];
  return [
    ratio(measured, ["machine", 10], xstate(10), { target: 0.5, most: 2 }),
    ratio(measured, ["host", 10], xstate(10), { target: 1, most: 4 }),
    ratio(measured, ["host", 10], aiSdk(10), { target: 0.1, most: 1.5 }),
    ratio(measured, ["host", 100], aiSdk(100), { most: 1.5 }),
    ratio(measured, ["host", 1_000], aiSdk(1_000), { target: 1 / 30, most: 0.5 }),
    ratio(measured, ["machine", 1_000], ["machine", 10], { target: 2, most: 4 }),
    ratio(measured, ["host", 1_000], ["host", 10], { target: 2, most: 3 }),
    ratio(measured, ["host, a window", 1_000], ["host, a window", 10], { target: 2, most: 3 }),
  ];
};

const onSqlite = (run: Run): Promise<readonly Figure[]> =>
  onFile(async (path) => {
    const sides = ["host on SQLite", "by hand on SQLite"] as const;
    const place = (side: (typeof sides)[number], round: number): string => `${path}.${sides.indexOf(side)}.${round}`;
    const measured = await measure(run, (round) => sides.map((side) => durable(side, place(side, round))));
    const opened = await measure(run, (round) =>
      sides.map((side) => ({ does: "opening", side, place: place(side, 0), thread, turn: turns + 1 + round })),
    );
    return [
      ...ofDurable(measured, sides, { target: 3, most: 18 }),
      ratio(opened, ["host on SQLite", "opening"], ["by hand on SQLite", "opening"], { target: 2, most: 16 }),
    ];
  });

const onPostgres = async (run: Run): Promise<readonly Figure[]> => {
  const url = serverUrl("postgres");
  if (url === null) {
    console.log(`not measured: PostgreSQL, since ${serverVariables.postgres} names none; \`pnpm servers\` starts one`);
    return [];
  }
  const sides = ["host on PostgreSQL", "by hand on PostgreSQL"] as const;
  try {
    const measured = await measure(run, () => sides.map((side) => durable(side, url, randomUUID())));
    return ofDurable(measured, sides, { target: 2, most: 12 });
  } finally {
    await dropPlace({ type: "postgres", url, space: schema });
  }
};

/** Makes the job of a whole history. The thread itself warms up both sides. */
const durable = (side: SideName, place: string, id: string = thread): Job => ({
  does: "turns",
  side,
  place,
  warmUpThreads: 3,
  micros: 0,
  thread: id,
});

const ofDurable = (
  measured: Measured,
  [ours, reference]: readonly [SideName, SideName],
  bounds: Bounds,
): readonly Figure[] => [100, 1_000].map((mark) => ratio(measured, [ours, mark], [reference, mark], bounds));

const manyThreads = async (run: Run): Promise<readonly Figure[]> => {
  const memory = await measure(run, () => [
    { does: "threads", side: "host", place: "" },
    { does: "threads", side: "AI SDK", place: "" },
  ]);
  const sqlite = await onFile((path) =>
    measure(run, (round) => [
      { does: "threads", side: "host on SQLite", place: `${path}.host.${round}` },
      { does: "threads", side: "by hand on SQLite", place: `${path}.hand.${round}` },
    ]),
  );
  return [
    ratio(memory, ["host", "threads"], ["AI SDK", "threads"], { target: 0.25, most: 3 }),
    ratio(sqlite, ["host on SQLite", "threads"], ["by hand on SQLite", "threads"], { target: 2, most: 13 }),
  ];
};

type Measured = ReadonlyMap<SideName, readonly Costs[]>;

const measure = async ({ folder, rounds }: Run, jobs: (round: number) => readonly Job[]): Promise<Measured> => {
  const measured = new Map<SideName, Costs[]>();
  const nodeOptions = ["--import", `${installedPackages.href}?${new URLSearchParams({ folder }).toString()}`];
  for (let round = 0; round < rounds; round++) {
    const inOrder = jobs(round);
    for (const job of round % 2 === 0 ? inOrder : inOrder.toReversed()) {
      const costs = await reportOf<Costs>(child, [JSON.stringify(job)], nodeOptions);
      measured.set(job.side, [...(measured.get(job.side) ?? []), costs]);
    }
  }
  return measured;
};

const child = new URL("cold/child.ts", import.meta.url);
const installedPackages = new URL("cold/installed-packages.ts", import.meta.url);

/** The upper bound of a ratio, and its target. */
interface Bounds {
  /** Must hold in one round on a busy machine, which may slow one side more: less than twice the worst seen ratio. */
  readonly most: number;
  readonly target?: number;
}

/** A side, and the turn or other work whose cost counts. */
type Cost = readonly [side: SideName, of: number | string];

const ratio = (measured: Measured, ours: Cost, reference: Cost, { most, target }: Bounds): Figure => {
  const mine = costsOf(measured, ours);
  const theirs = costsOf(measured, reference);
  const note = `${short(median(mine))} µs against ${short(median(theirs))}`;
  return {
    name: `${inWords(ours)} / ${inWords(reference)}`,
    value: median(mine.map((cost, round) => cost / (theirs[round] ?? Number.NaN))),
    most,
    note: target === undefined ? note : `${note}; to come to ${target.toPrecision(2)}`,
  };
};

const costsOf = (measured: Measured, [side, of]: Cost): readonly number[] =>
  (measured.get(side) ?? []).map((costs) => costs[of] ?? Number.NaN);

const inWords = ([side, of]: Cost): string => `${side}, ${typeof of === "number" ? `turn ${of}` : of}`;
