/** The counts of one policy. Plain data, so that a worker can send it. */
export interface Tally {
  readonly prompts: number;
  /** Prompts that did not fit, and reported it. */
  readonly unfit: number;
  /** Prompts that leave something out. */
  readonly cut: number;
  readonly violations: readonly Violation[];
}

export interface Violation {
  readonly law: string;
  readonly conversation: string;
  readonly variant: string;
  readonly tokens: number | null;
  readonly words: string;
}

export interface Tallies {
  readonly [subject: string]: Tally;
}

const noTally: Tally = { prompts: 0, unfit: 0, cut: 0, violations: [] };

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

/** Formats a line for each policy, and below it the violations of its laws. */
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

const mostShown = 3;

const number = (value: number): string => value.toLocaleString("en").padStart(9);
