/** The outcome of one policy, counted. Plain data, so that a worker can send it. */
export interface Tally {
  readonly prompts: number;
  /** Prompts that did not fit, and said so. */
  readonly unfit: number;
  /** Prompts that show less than all. */
  readonly cut: number;
  readonly violations: readonly Violation[];
}

/** A violation of a law, and how to see it again. */
export interface Violation {
  readonly law: string;
  readonly conversation: string;
  readonly variant: string;
  readonly tokens: number | null;
  readonly words: string;
}

/** By the name of the policy. */
export interface Tallies {
  readonly [subject: string]: Tally;
}

const noTally: Tally = { prompts: 0, unfit: 0, cut: 0, violations: [] };

/** Two tallies of different prompts together. */
export const addTallies = (left: Tallies, right: Tallies): Tallies => {
  const sum: { [subject: string]: Tally } = { ...left };
  for (const [subject, tally] of Object.entries(right)) {
    const before = sum[subject] ?? noTally;
    sum[subject] = {
      prompts: before.prompts + tally.prompts,
      unfit: before.unfit + tally.unfit,
      cut: before.cut + tally.cut,
      violations: [...before.violations, ...tally.violations],
    };
  }
  return sum;
};

/** A line for each policy, and beneath it what broke its laws. */
export const printed = (tallies: Tallies, repeat: (violation: Violation, subject: string) => string): string =>
  Object.entries(tallies)
    .flatMap(([subject, { prompts, unfit, cut, violations }]) => [
      `${number(prompts)} prompts, ${number(cut)} cut, ${number(unfit)} unfit  ${subject}`,
      ...[...Map.groupBy(violations, ({ law }) => law)].flatMap(([law, of]) => [
        `  BROKEN ${law}: ${of.length.toLocaleString("en")} times`,
        ...of
          .slice(0, mostShown)
          .map(
            (violation) =>
              `    ${violation.conversation}, ${violation.variant}, room for ${violation.tokens ?? "any"} tokens: ${violation.words.slice(0, 600)}\n      ${repeat(violation, subject)}`,
          ),
      ]),
    ])
    .join("\n");

/** So many violations of one law by one policy are shown. */
const mostShown = 3;

const number = (value: number): string => value.toLocaleString("en").padStart(9);
