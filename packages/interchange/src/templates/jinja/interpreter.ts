import * as untyped from "@huggingface/jinja";

/**
 * The parts of the package that are used here. Its own types import files without an extension, which `nodenext`
 * cannot resolve.
 */
interface Jinja {
  readonly tokenize: (
    text: string,
    options: { readonly lstrip_blocks: boolean; readonly trim_blocks: boolean },
  ) => unknown;
  readonly parse: (tokens: unknown) => Program;
  readonly Environment: new () => Environment;
  readonly Interpreter: new (environment: Environment) => {
    run(program: Program): Value;
    evaluate(statement: Statement | undefined, environment: Environment): Value;
  };
}
interface Environment {
  set(name: string, value: unknown): unknown;
}
interface Statement {
  readonly type: string;
  /** The object of a member expression. */
  readonly object?: object;
  /** The iterable of a loop. */
  readonly iterable?: object;
}
interface Value {
  readonly value: unknown;
}

/** A parsed template. */
export type Program = Statement;

// The package's declarations and the tests of this folder confirm this shape.
const jinja = untyped as unknown as Jinja;

/** Parses a template with the settings of transformers. @throws Error if it is invalid */
export const parseTemplate = (text: string): Program => {
  // At each white-space character the lexer scans to the end of the run, which is quadratic in the run's length.
  const place = text.search(longRun);
  if (place >= 0)
    throw new SyntaxError(`it has more than ${runMax} characters of white space in a row at ${place}; shorten them`);
  return jinja.parse(jinja.tokenize(text, { lstrip_blocks: true, trim_blocks: true }));
};

/** Ten times the longest run in the templates of 86 models. */
const runMax = 256;

const longRun = new RegExp(`\\s{${runMax + 1}}`, "u");

/** Renders a template with variables. @throws Error if it fails, or exceeds a bound */
export const runTemplate = (program: Program, variables: object): string => {
  const environment = new jinja.Environment();
  for (const [name, value] of Object.entries(variables)) environment.set(name, value);
  return String(new BoundedInterpreter(environment).run(program).value);
};

/**
 * Evaluates a template with a bounded number of steps. Jinja has no endless loop, but nested loops, recursive macros
 * and lists that double have the same effect. Each evaluation is a step, and more if its value is large. Each
 * iteration of a loop counts as several steps.
 */
class BoundedInterpreter extends jinja.Interpreter {
  #steps = 0;
  readonly #loopedOver = new WeakSet<object>();
  readonly #membersOf = new WeakSet<object>();

  override evaluate(statement: Statement | undefined, environment: Environment): Value {
    if (statement?.iterable !== undefined) this.#loopedOver.add(statement.iterable);
    if (statement?.object !== undefined) this.#membersOf.add(statement.object);
    this.#spend(1);
    const value = super.evaluate(statement, environment);
    const size = sizeOf(value.value);
    if (size > sizeMax) throw new RangeError(`it makes a value of more than ${sizeMax} characters or entries`);
    if (statement !== undefined && !this.#membersOf.has(statement)) this.#walk(value, { left: entriesMax });
    this.#spend(statement !== undefined && this.#loopedOver.has(statement) ? size * stepsPerTurn : size / sizePerStep);
    return value;
  }

  /**
   * Counts all entries of a list. Every operation on a list (writing, joining, comparing) visits all entries, and
   * visits a repeated entry again. Nested lists that double have more entries than memory can hold.
   */
  #walk({ value }: Value, entries: { left: number }): void {
    if (!(Array.isArray(value) || value instanceof Map)) return;
    const size = sizeOf(value);
    entries.left -= size;
    if (entries.left < 0) throw new RangeError(`it makes a value of more than ${entriesMax} entries`);
    this.#spend(size / entriesPerStep);
    // The package stores them as values.
    for (const each of value.values() as Iterable<Value>) this.#walk(each, entries);
  }

  #spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > stepsMax) throw new RangeError(`it takes more than ${stepsMax} steps`);
  }
}

/** A few seconds of work, and more than the prompt of any model takes. */
const stepsMax = 2_000_000;

/** The extra steps of a loop's iteration, because each has its own variables. */
const stepsPerTurn = 4;

/** Filters that search or replace take as long for some dozens of characters as one step. */
const sizePerStep = 32;

const entriesMax = 1_000_000;

const entriesPerStep = 64;

/** A million tokens, more than any model reads. */
const sizeMax = 2 ** 22;

const sizeOf = (value: unknown): number => {
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  return value instanceof Map ? value.size : 0;
};
