import { createHash } from "node:crypto";

import { type Source, sourcesIn } from "../../test/rules/source.ts";
import type { Answer } from "./messages.ts";
import { type Mutant, mutantsOf, mutatedText } from "./mutations.ts";
import { TestOrder } from "./order.ts";
import { Runner } from "./test-runner.ts";

/** A mutant that no test can kill, since it behaves like the original. */
export interface Equivalent {
  readonly path: string;
  /** The original and the mutated lines, each joined to one line, as a survivor is printed. */
  readonly original: string;
  readonly mutated: string;
  readonly reason: string;
}

/** The sources to mutate, and the tests that must notice. */
interface Subject {
  readonly root: string;
  /** The folder of the sources, from the root. */
  readonly source: string;
  /** The folder or file in `source` whose mutants are drawn, from the root. */
  readonly mutated: string;
  /** A folder in `mutated` whose mutants are left out. */
  readonly without: string | null;
  /** The tests, as a glob from the root. */
  readonly tests: string;
  /** The files whose imports are followed, as globs from the root. */
  readonly sources: readonly string[];
  readonly equivalent: readonly Equivalent[];
  /** The processor seconds without a finished test after which the tests count as an endless loop. */
  readonly secondsWithoutProgressMax: number;
}

export interface Sample {
  readonly count: number;
  readonly seed: number;
  readonly workers: number;
}

/** The outcome of a mutant. An invalid one could not be tested. */
type Outcome = "killed" | "timeout" | "survived" | "invalid";

export interface Hunt {
  /** The number of mutants from which the sample was drawn. */
  readonly mutants: number;
  readonly killed: number;
  /** The number of killed mutants whose tests never ended. */
  readonly timeouts: number;
  readonly survivors: readonly Mutant[];
  /** The number of drawn mutants that are listed as equivalent. They were not tested. */
  readonly equivalent: number;
  /** Entries of the list of equivalent mutants that match no mutant. */
  readonly stale: readonly Equivalent[];
  /** Reasons why the figures are void, such as tests that fail without a mutant. */
  readonly problems: readonly string[];
}

/** Draws mutants, runs the tests against each until one fails, and returns the survivors. */
export const hunt = async (
  subject: Subject,
  { count, seed, workers }: Sample,
  onOutcome: (outcome: Outcome, mutant: Mutant) => void = () => {},
): Promise<Hunt> => {
  const all = filesOf(subject, [`${subject.mutated}{,/**/*.ts}`])
    .filter(({ path }) => subject.without === null || !path.startsWith(`${subject.without}/`))
    .flatMap((source) => mutantsOf(source).map((mutant) => ({ source, mutant })));
  const places = new Map(all.map(({ source, mutant }) => [mutant, source]));
  const sample = drawn([...places.keys()], count, seed);
  const tests = new Tests(subject);
  const survivors: Mutant[] = [];
  const outcomes: Outcome[] = [];
  const waiting = sample.filter((mutant) => !subject.equivalent.some((entry) => names(entry, mutant)));
  const equivalent = sample.length - waiting.length;
  const work = async (): Promise<void> => {
    const runner = tests.runner();
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const outcome = await tests.against(mutant, places.get(mutant), runner);
      outcomes.push(outcome);
      if (outcome === "survived") survivors.push(mutant);
      onOutcome(outcome, mutant);
    }
    runner.close();
  };
  if (waiting.length >= firstAllFrom) await tests.runAll();
  // Tests that fail without a mutant would kill all mutants.
  if (tests.problems.length > 0) waiting.length = 0;
  await Promise.all(Array.from({ length: workers }, work));
  await tests.checkKillers();
  const timeouts = outcomes.filter((outcome) => outcome === "timeout").length;
  return {
    mutants: all.length,
    killed: outcomes.filter((outcome) => outcome === "killed").length + timeouts,
    timeouts,
    survivors,
    equivalent,
    stale: subject.equivalent.filter(
      (entry) => entry.path.startsWith(subject.mutated) && !all.some(({ mutant }) => names(entry, mutant)),
    ),
    problems: tests.problems,
  };
};

/** The number of mutants from which it pays to learn first what each test reaches and how long it takes. */
const firstAllFrom = 40;

const names = (entry: Equivalent, { path, original, mutated }: Mutant): boolean =>
  entry.path === path && entry.original === original && entry.mutated === mutated;

const filesOf = ({ root }: Subject, globs: readonly string[]): readonly Source[] => sourcesIn(root, globs);

/** Runs the tests of a subject, and orders them. */
class Tests {
  readonly problems: string[] = [];
  readonly #subject: Subject;
  readonly #order: TestOrder;
  readonly #killers = new Set<string>();

  constructor(subject: Subject) {
    this.#subject = subject;
    const tests = filesOf(subject, [subject.tests]);
    this.#order = new TestOrder(tests, [...tests, ...filesOf(subject, subject.sources)]);
  }

  runner(): Runner {
    const { root, source, tests, secondsWithoutProgressMax } = this.#subject;
    return new Runner({ root, source, tests, secondsWithoutProgressMax });
  }

  async against(mutant: Mutant, source: Source | undefined, runner: Runner): Promise<Outcome> {
    if (source === undefined || mutatedText(source, mutant) === undefined) return "invalid";
    const tests = this.#order.testsOf(mutant);
    if (tests.length === 0) return "survived";
    const answer = await runner.run({ mutant, tests });
    if ("passed" in answer) this.#order.note(answer.passed, mutant);
    if (answer.outcome === "killed") this.#killers.add(answer.by);
    if (answer.outcome !== "died" && answer.outcome !== "unable") return answer.outcome;
    // The mutant killed the runner if the runner survives without it.
    const plain = answer.outcome === "died" ? await runner.run({ mutant: null, tests: tests.slice(0, 1) }) : answer;
    if (plain.outcome === "survived") return "timeout";
    this.problems.push(`${mutant.path}:${mutant.line}: ${answer.outcome === "died" ? answer.how : answer.problem}`);
    return "invalid";
  }

  /** Runs all tests without a mutant. */
  async runAll(): Promise<void> {
    const runner = this.runner();
    const answer = await runner.run({ mutant: null, tests: this.#order.all });
    runner.close();
    if (answer.outcome === "survived") this.#order.note(answer.passed, null);
    else this.#noteFailure(answer);
  }

  /** Runs the tests that killed without a mutant; one that fails then has killed nothing. */
  async checkKillers(): Promise<void> {
    if (this.#killers.size === 0) return;
    const runner = this.runner();
    const answer = await runner.run({ mutant: null, tests: [...this.#killers] });
    runner.close();
    this.#noteFailure(answer);
  }

  /** Notes a failure of tests that ran without a mutant. */
  #noteFailure(answer: Answer): void {
    if (answer.outcome === "unable") this.problems.push(answer.problem);
    if (answer.outcome === "died") this.problems.push(answer.how);
    if (answer.outcome === "timeout") this.problems.push(`${answer.by} does not end without a mutant, either`);
    if (answer.outcome === "killed") {
      this.problems.push(`${answer.by} also fails without a mutant: ${answer.why.split("\n")[0]}`);
    }
  }
}

/**
 * Draws `count` of the mutants by the seed; all if there are no more. Each mutant's lot follows from its text, not from
 * its place, so a changed line changes only its own mutants in a sample.
 */
export const drawn = (mutants: readonly Mutant[], count: number, seed: number): readonly Mutant[] => {
  const alike = new Map<string, number>();
  const lots = mutants.map((mutant) => {
    const name = [mutant.path, mutant.original, mutant.mutated].join("\n");
    const nth = alike.get(name) ?? 0;
    alike.set(name, nth + 1);
    return { mutant, lot: createHash("sha256").update(`${seed}\n${nth}\n${name}`).digest("hex") };
  });
  return lots
    .toSorted((one, other) => (one.lot < other.lot ? -1 : 1))
    .slice(0, count)
    .map(({ mutant }) => mutant);
};
