import { type Source, sourcesIn } from "../../test/rules/source.ts";
import type { Equivalent } from "./equivalent.ts";
import type { Answer } from "./messages.ts";
import { type Mutant, mutantsOf, mutatedText } from "./mutations.ts";
import { TestOrder } from "./order.ts";
import { drawn } from "./sample.ts";
import { Runner } from "./test-runner.ts";

/** The sources to mutate, and the tests that have to notice. */
export interface Subject {
  /** The repository's folder. */
  readonly root: string;
  /** The folder of the sources, from the root. */
  readonly source: string;
  /** The folder or the file among them whose mutants are drawn, from the root. */
  readonly mutated: string;
  /** The tests, as a glob from the root. */
  readonly tests: string;
  /** Where to look for what imports what, as globs from the root. */
  readonly sources: readonly string[];
  readonly equivalent: readonly Equivalent[];
  /** Without a test that ends in so much time of the processor, the tests are in a loop. */
  readonly secondsWithoutProgressMax: number;
}

export interface Sample {
  readonly count: number;
  readonly seed: number;
  readonly workers: number;
}

/** The outcome of a mutant. The tests could not be run against an invalid one. */
export type Outcome = "killed" | "timeout" | "survived" | "invalid";

export interface Hunt {
  /** How many mutants there are, without those that are known to be equivalent. */
  readonly mutants: number;
  readonly killed: number;
  /** How many of the killed mutants have tests that never ended. */
  readonly timeouts: number;
  readonly survivors: readonly Mutant[];
  readonly equivalent: number;
  /** Entries of the list of equivalent mutants that name no mutant any more. */
  readonly stale: readonly Equivalent[];
  /** Why the figures mean nothing, such as tests that fail without a mutant. */
  readonly problems: readonly string[];
}

/** Draws mutants, runs the tests against each until one fails, and says which came through. */
export const hunt = async (
  subject: Subject,
  { count, seed, workers }: Sample,
  onOutcome: (outcome: Outcome, mutant: Mutant) => void = () => {},
): Promise<Hunt> => {
  const all = filesOf(subject, [`${subject.mutated}{,/**/*.ts}`]).flatMap((source) =>
    mutantsOf(source).map((mutant) => ({ source, mutant })),
  );
  const places = new Map(all.map(({ source, mutant }) => [mutant, source]));
  const counted = all
    .map(({ mutant }) => mutant)
    .filter((mutant) => !subject.equivalent.some((entry) => names(entry, mutant)));
  const tests = new Tests(subject);
  const survivors: Mutant[] = [];
  const outcomes: Outcome[] = [];
  const waiting = [...drawn(counted, count, seed)];
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
  // Tests that fail without a mutant would kill them all.
  if (tests.problems.length > 0) waiting.length = 0;
  await Promise.all(Array.from({ length: workers }, work));
  await tests.checkKillers();
  const timeouts = outcomes.filter((outcome) => outcome === "timeout").length;
  return {
    mutants: counted.length,
    killed: outcomes.filter((outcome) => outcome === "killed").length + timeouts,
    timeouts,
    survivors,
    equivalent: all.length - counted.length,
    stale: subject.equivalent.filter(
      (entry) => entry.path.startsWith(subject.mutated) && !all.some(({ mutant }) => names(entry, mutant)),
    ),
    problems: tests.problems,
  };
};

/** From how many mutants on it pays to learn first which tests reach what, and how long they take. */
const firstAllFrom = 40;

const names = (entry: Equivalent, { path, original, mutated }: Mutant): boolean =>
  entry.path === path && entry.original === original && entry.mutated === mutated;

const filesOf = ({ root }: Subject, globs: readonly string[]): readonly Source[] => sourcesIn(root, globs);

/** The tests of a subject: which of them, in which order, and what came of them. */
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
    // Without the mutant a runner lives.
    const plain = answer.outcome === "died" ? await runner.run({ mutant: null, tests: tests.slice(0, 1) }) : answer;
    if (plain.outcome === "survived") return "timeout";
    this.problems.push(`${mutant.path}:${mutant.line}: ${answer.outcome === "died" ? answer.how : answer.problem}`);
    return "invalid";
  }

  /** All of them without a mutant. */
  async runAll(): Promise<void> {
    const runner = this.runner();
    const answer = await runner.run({ mutant: null, tests: this.#order.all });
    runner.close();
    if (answer.outcome === "survived") this.#order.note(answer.passed, null);
    else this.#noteFailure(answer);
  }

  /** A test that fails without a mutant has killed none. */
  async checkKillers(): Promise<void> {
    if (this.#killers.size === 0) return;
    const runner = this.runner();
    const answer = await runner.run({ mutant: null, tests: [...this.#killers] });
    runner.close();
    this.#noteFailure(answer);
  }

  /** Of tests that were run without a mutant. */
  #noteFailure(answer: Answer): void {
    if (answer.outcome === "unable") this.problems.push(answer.problem);
    if (answer.outcome === "died") this.problems.push(answer.how);
    if (answer.outcome === "timeout") this.problems.push(`${answer.by} comes to no end without a mutant, too`);
    if (answer.outcome === "killed") {
      this.problems.push(`${answer.by} fails without a mutant, too: ${answer.why.split("\n")[0]}`);
    }
  }
}
