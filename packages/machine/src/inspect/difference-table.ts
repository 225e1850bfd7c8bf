import { firstWords, textTable } from "./text-table.ts";
import type { Json } from "../thread/plain-data.ts";
import type { StateDifference } from "./difference.ts";

/** Formats the difference between two states as a table, with a line for each change. At least 80 columns wide. */
export const differenceTable = (difference: StateDifference): string => {
  const rows = [
    ...turnRows(difference),
    ...difference.changes.map(({ what, before, after }) => [what, wordsOf(before), wordsOf(after)]),
  ];
  const columns = [
    { title: "what" },
    { title: `behind entry ${difference.before}` },
    { title: `behind entry ${difference.after}` },
  ];
  return rows.length === 0
    ? `no difference between entries ${difference.before} and ${difference.after}`
    : textTable(columns, rows);
};

const turnRows = ({ added, removed, changed, entered, left }: StateDifference): readonly (readonly string[])[] =>
  [
    ["turns closed only here", numbersOf(removed), numbersOf(added)],
    ["turns on the path only here", numbersOf(left), numbersOf(entered)],
    ["turns changed", "", numbersOf(changed)],
  ].filter(([, before, after]) => before !== "" || after !== "");

/** Formats numbers as runs: `1 to 4, 7`. */
const numbersOf = (numbers: readonly number[]): string => {
  const runs: { from: number; to: number }[] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last?.to === number - 1) last.to = number;
    else runs.push({ from: number, to: number });
  }
  return firstWords(runs.map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`)).join(", "), wordColumns);
};

const wordsOf = (value: Json): string => {
  if (value === null) return "none";
  if (Array.isArray(value)) return value.length === 0 ? "none" : firstWords(value.map(wordsOf).join(", "), wordColumns);
  return firstWords(typeof value === "string" ? value : JSON.stringify(value), wordColumns);
};

const wordColumns = 30;
