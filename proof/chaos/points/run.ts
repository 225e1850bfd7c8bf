import { judge, lastOut } from "../story/judge.ts";
import type { Life, LifeParts } from "../story/life.ts";
import { asks, storyMachine } from "../story/script.ts";
import { converse, type Conversed } from "./converse.ts";
import type { Place } from "./places.ts";
import { rowOf } from "../story/table.ts";

/** Which points to crash at. */
export interface PointOptions {
  /** Begins a process. Default: one with a host. */
  readonly begin?: (parts: LifeParts) => Life;
  /** Every Nth point, from the first. Default 1: each. */
  readonly every?: number;
  /** The process after the one that died dies as well, so many points later; null: it lives. Default null. */
  readonly again?: number | null;
}

/** What came of crashing one conversation at its points. */
export interface Outcome {
  /** How many points the conversation has. */
  readonly points: number;
  readonly crashes: number;
  readonly entries: number;
  /** How many crashes fell under each row of the table. */
  readonly rows: ReadonlyMap<string, number>;
  /** What is wrong, with where it crashed. */
  readonly problems: readonly string[];
}

/** Holds the conversation once undisturbed, and once for each point with a crash there; and what is wrong, if anything is. */
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
    // Who is asked about an unknown outcome says yes at one point, and no at the next.
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

/** Holds a conversation that was crashed against the one that was not. */
export const judgePoint = (uncrashed: Conversed, crashed: Conversed): readonly string[] => {
  const answers = uncrashed.facts.filter((fact) => fact.type === "answered");
  return judge({
    ...crashed,
    asked: asks,
    machine: storyMachine(),
    uncrashed: { journal: uncrashed.journal, answers, isOrdered: true },
  });
};
