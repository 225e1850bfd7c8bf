/** The outcome of one policy, counted. Plain data, so that a worker can send it. */
export interface Tally {
  readonly prompts: number;
  /** Prompts that did not fit, and said so. */
  readonly unfit: number;
  /** Prompts that show less than all. */
  readonly cut: number;
  readonly violations: { readonly [law: string]: Violations };
}

/** Violations of one law: how many, and the first of them. */
export interface Violations {
  readonly count: number;
  readonly first: readonly Violation[];
}

/** A violation of a law, and how to see it again. */
export interface Violation {
  readonly conversation: string;
  readonly variant: string;
  readonly step: number;
  readonly tokens: number;
  readonly words: string;
}

/** By the name of the policy. */
export interface Tallies {
  readonly [subject: string]: Tally;
}

const noTally: Tally = { prompts: 0, unfit: 0, cut: 0, violations: {} };

/** Two tallies of different prompts together. */
export const addTallies = (left: Tallies, right: Tallies): Tallies => {
  const sum: { [subject: string]: Tally } = { ...left };
  for (const [subject, tally] of Object.entries(right)) sum[subject] = addTally(sum[subject] ?? noTally, tally);
  return sum;
};

const addTally = (left: Tally, right: Tally): Tally => {
  const violations: { [law: string]: Violations } = { ...left.violations };
  for (const [law, { count, first }] of Object.entries(right.violations)) {
    const before = violations[law];
    violations[law] = {
      count: count + (before?.count ?? 0),
      first: [...(before?.first ?? []), ...first].slice(0, mostShown),
    };
  }
  return {
    prompts: left.prompts + right.prompts,
    unfit: left.unfit + right.unfit,
    cut: left.cut + right.cut,
    violations,
  };
};

/** So many violations of one law by one policy are shown. */
export const mostShown = 3;

/** How many violations there are in all. */
export const violationsIn = (tallies: Tallies): number =>
  Object.values(tallies)
    .flatMap(({ violations }) => Object.values(violations))
    .reduce((sum, { count }) => sum + count, 0);

/** A line for each policy, and beneath it what broke its laws. */
export const printed = (tallies: Tallies, repeat: (violation: Violation, subject: string) => string): string =>
  Object.entries(tallies)
    .flatMap(([subject, { prompts, unfit, cut, violations }]) => [
      `${number(prompts)} prompts, ${number(cut)} cut, ${number(unfit)} unfit  ${subject}`,
      ...Object.entries(violations).flatMap(([law, { count, first }]) => [
        `  BROKEN ${law}: ${count.toLocaleString("en")} times`,
        ...first.map(
          (violation) =>
            `    ${violation.conversation}, ${violation.variant}, step ${violation.step}, room for ${violation.tokens} tokens: ${violation.words.slice(0, 600)}\n      ${repeat(violation, subject)}`,
        ),
      ]),
    ])
    .join("\n");

const number = (value: number): string => value.toLocaleString("en").padStart(9);
