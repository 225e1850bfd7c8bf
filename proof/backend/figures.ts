import { readFileSync } from "node:fs";

import type { SeededRun } from "../kit/report.ts";

export interface BackendRun extends SeededRun {
  readonly title: string;
  readonly figures: readonly Figure[];
}

interface Figure {
  readonly name: string;
  readonly seconds: number[];
}

export const figuresOf = <Key extends string>(names: Readonly<Record<Key, string>>): Readonly<Record<Key, Figure>> =>
  // One figure for each key.
  Object.fromEntries(
    Object.entries<string>(names).map(([key, name]): [string, Figure] => [key, { name, seconds: [] }]),
  ) as Record<Key, Figure>;

/** Formats the minimum, median and maximum of each figure of a run. */
export const tableOf = ({ title, figures }: BackendRun): string =>
  [
    `${title}; seconds (min, median, max):`,
    ...figures
      .filter(({ seconds }) => seconds.length > 0)
      .map(({ name, seconds }) => {
        const sorted = seconds.toSorted((one, other) => one - other);
        const shown = [sorted[0], medianOf(sorted), sorted.at(-1)].map((value) => (value ?? 0).toFixed(2).padStart(6));
        return `  ${shown.join(" ")}  ${name}`;
      }),
  ].join("\n");

/** Returns the median. */
export const medianOf = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length / 2)] ?? 0;

/** Returns the end of the backend's log if there are violations. */
export const logged = (violations: readonly string[], log: string): string =>
  violations.length === 0 ? "" : readFileSync(log, "utf8").slice(-logCharacters);

const logCharacters = 4_000;
