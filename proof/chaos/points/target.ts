// Crashes the story before and after each append and each effect, and lets another process continue to the end. Checks
// the outcome by the table of crash points and recovery rules. Time is virtual; the stores are real.
import { type Clock, memoryStore, type Store } from "@colloquy/host";

import { flag, whole } from "../../kit/options.ts";
import { deleteThreads, leavePlace, newPlace, openStore } from "../../kit/places.ts";
import { runSeeds } from "../../kit/report.ts";
import { commandOf } from "../../kit/target.ts";
import { judge, lastOut } from "../story/judge.ts";
import type { Life, LifeParts } from "../story/life.ts";
import { asks, storyMachine } from "../story/script.ts";
import { rowOf, tableInMarkdown } from "../story/table.ts";
import { converse, type Conversed } from "./converse.ts";

interface PointOptions {
  readonly begin?: (parts: LifeParts) => Life;
  readonly every?: number;
  /** The points after which the next process dies as well; null: it lives. Default null. */
  readonly again?: number | null;
}

interface Outcome {
  readonly points: number;
  readonly crashes: number;
  readonly entries: number;
  readonly rows: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
}

/** Holds the conversation without a crash, and then with a crash at each point. Returns the problems. */
export const crashAtPoints = async (
  place: Place,
  { begin, every = 1, again = null }: PointOptions = {},
): Promise<Outcome> => {
  const converseTo = (diesAt: number | null, runAgain: boolean): Promise<Conversed> =>
    converse({
      ...(begin && { begin }),
      openStore: place.open,
      diesAt,
      diesAgainAt: diesAt === null ? null : again,
      runAgain,
    });
  const rows = new Map<string, number>();
  const problems: string[] = [];
  const uncrashed = await converseTo(null, true);
  let crashes = 0;
  for (let diesAt = 1; diesAt <= uncrashed.points.length; diesAt += every) {
    // The approver approves an unknown outcome at one point, and denies it at the next.
    const crashed = await converseTo(diesAt, diesAt % 2 === 0);
    crashes += crashed.left.length;
    for (const row of new Set(lastOut(crashed.left).map((effect) => rowOf(effect).name)))
      rows.set(row, (rows.get(row) ?? 0) + 1);
    const point = crashed.points.at(-1);
    problems.push(
      ...judgePoint(uncrashed, crashed).map((problem) => `point ${diesAt}, ${point?.when} ${point?.what}: ${problem}`),
    );
  }
  return { points: uncrashed.points.length, crashes, entries: uncrashed.journal.length, rows, problems };
};

export const judgePoint = (uncrashed: Conversed, crashed: Conversed): readonly string[] => {
  const answers = uncrashed.facts.filter((fact) => fact.type === "answered");
  return judge({
    ...crashed,
    asked: asks,
    machine: storyMachine(),
    uncrashed: { journal: uncrashed.journal, answers, isOrdered: true },
  });
};

interface Place {
  readonly open: (clock: Clock) => Promise<Store>;
  readonly leave: () => Promise<void>;
}

const storeNames = ["memory", "sqlite", "files", "postgres", "redis"] as const;

type StoreName = (typeof storeNames)[number];

export const memoryPlace: Place = { open: async (clock) => memoryStore({ clock }), leave: async () => undefined };

/** Returns a place for a store. @throws if it needs a server and none is named */
const placeOf = (name: StoreName): Place => {
  if (name === "memory") return memoryPlace;
  const place = newPlace(name, "chaos-points");
  return {
    open: async (clock) => {
      const store = openStore(place, { clock });
      await deleteThreads(store);
      return store;
    },
    leave: () => leavePlace(place),
  };
};

export const command = commandOf({
  name: "points",
  stores: storeNames,
  faults: {},
  runs: [1, "the number of rounds of crashes at all points"],
  options: {
    every: whole(1, "only every Nth point"),
    again: whole(null, "the next process dies as well, N points later"),
    table: flag("only print the table in Markdown"),
  },
  run: async ({ store, runs, seed }, { table: isShown, ...points }) => {
    if (isShown) console.log(tableInMarkdown());
    const place = placeOf(store);
    try {
      return await runSeeds(isShown ? 0 : runs, seed, async () => {
        const { problems, crashes, points: all, entries, rows } = await crashAtPoints(place, points);
        const fell = Array.from(rows, ([name, times]) => [`outstanding then: ${name}`, times] as const);
        return { seed, violations: problems, counts: { crashes, points: all, entries, ...Object.fromEntries(fell) } };
      });
    } finally {
      await place.leave();
    }
  },
});
