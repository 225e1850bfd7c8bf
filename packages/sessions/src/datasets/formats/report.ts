import type { LeftOut } from "../../turns/left-out.ts";
import type { Linearised } from "../examples/linearise.ts";
import type { PromptsWithoutPairs } from "../examples/pairs.ts";
import type { Dataset } from "./write.ts";

export interface DatasetOrigin {
  readonly linearised: Linearised;
  readonly dataset: Dataset;
  /** Only for a data set of pairs. */
  readonly pairs?: PromptsWithoutPairs;
}

/**
 * Describes the conversion of conversations to a data set, for a person: one line for each fact, the rows first. It
 * contains names and texts of the conversations unchanged.
 */
export const datasetReport = ({ linearised, dataset, pairs }: DatasetOrigin): readonly string[] => {
  const { examples, leftOut, unreadable, tools, countedBy } = linearised;
  const counted = examples.flatMap(({ tokens }) => tokens ?? []);
  const total = counted.reduce((sum, tokens) => sum + tokens.total, 0);
  const trained = counted.reduce((sum, tokens) => sum + tokens.trained, 0);
  return [
    `${numbered(dataset.rows.length, "row")} of ${numbered(examples.length, "example")}`,
    ...(countedBy === null
      ? []
      : [`${numbered(total, "token")} in the examples, ${trained} of them trained (by ${countedBy})`]),
    ...leftOutLines([...leftOut, ...dataset.leftOut]),
    ...(pairs === undefined ? [] : pairLines(pairs)),
    ...tools.map(({ name, is, examples: count }) => `${doubts[is](name)} (${numbered(count, "example")})`),
    ...dataset.losses.map(({ what, why, times }) => `not as it was: ${what}: ${why} (${numbered(times, "time")})`),
    ...unreadable.map(({ thread, reason }) => `${thread} can't be read: ${reason}`),
  ];
};

const leftOutLines = (leftOut: readonly LeftOut[]): readonly string[] => {
  const counts = new Map<string, number>();
  for (const { because } of leftOut) counts.set(because, (counts.get(because) ?? 0) + 1);
  const words = [...counts].map(([because, count]) => `${count} ${because}`);
  return words.length === 0 ? [] : [`left out: ${words.join(", ")}`];
};

const pairLines = ({ alone, ties, same, unscored }: PromptsWithoutPairs): readonly string[] =>
  alone + ties + same + unscored === 0
    ? []
    : [
        `without a pair: ${numbered(alone, "prompt")} with one reply, ${ties} with replies that are equally good; ${numbered(same, "pair")} of the same reply; ${numbered(unscored, "example")} without a score`,
      ];

const doubts = {
  missing: (name: string) => `the tool "${name}" is not declared: rows have its name alone`,
  changed: (name: string) => `the tool "${name}" is declared in other words than it was offered in: rows have these`,
} as const;

const numbered = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? "" : "s"}`;
