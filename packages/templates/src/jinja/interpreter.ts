import * as untyped from "@huggingface/jinja";

/** What is used of the package. Its own types name their files without an ending, which `nodenext` can't follow. */
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
  /** Of a member expression: whose member it is. */
  readonly object?: object;
  /** Of a loop: what it goes through. */
  readonly iterable?: object;
}
interface Value {
  readonly value: unknown;
}

/** A template that was read. */
export type Program = Statement;

// As its declarations have it, and the tests of this folder.
const jinja = untyped as unknown as Jinja;

/** Reads a template, with the settings of transformers. @throws Error if it is invalid */
export const parseTemplate = (text: string): Program => {
  // From each character of white space the lexer scans to the end of the run, which takes the square of its length.
  const place = text.search(longRun);
  if (place >= 0)
    throw new SyntaxError(`it has more than ${runMax} characters of white space in a row at ${place}; shorten them`);
  return jinja.parse(jinja.tokenize(text, { lstrip_blocks: true, trim_blocks: true }));
};

/** Ten times the longest run in the templates of 86 models. */
const runMax = 256;

const longRun = new RegExp(`\\s{${runMax + 1}}`, "u");

/** The text that a template makes of its variables. @throws Error where it fails, or takes too much */
export const runTemplate = (program: Program, variables: object): string => {
  const environment = new jinja.Environment();
  for (const [name, value] of Object.entries(variables)) environment.set(name, value);
  return String(new BoundedInterpreter(environment).run(program).value);
};

/**
 * Evaluates a template in so many steps and no more. Jinja has no endless loop, but loops in loops, macros that call
 * themselves and lists that double come to the same. An evaluation is a step, more where its value is large; so is
 * each turn of a loop, more than once.
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
   * Whatever is done with a list (written, joined, compared) goes through all that is in it, and through what stands in it
   * twice two times: lists of lists that double have more entries than there is memory.
   */
  #walk({ value }: Value, entries: { left: number }): void {
    if (!(Array.isArray(value) || value instanceof Map)) return;
    const size = sizeOf(value);
    entries.left -= size;
    if (entries.left < 0) throw new RangeError(`it makes a value of more than ${entriesMax} entries`);
    this.#spend(size / entriesPerStep);
    // As the package keeps them.
    for (const each of value.values() as Iterable<Value>) this.#walk(each, entries);
  }

  #spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > stepsMax) throw new RangeError(`it takes more than ${stepsMax} steps`);
  }
}

/** Seconds of work, and more than any model's prompt takes. */
const stepsMax = 2_000_000;

/** Of a loop, beside what it does: each of its turns has variables of its own. */
const stepsPerTurn = 4;

/** Filters that search or replace take as long for some dozens of characters as another step. */
const sizePerStep = 32;

const entriesMax = 1_000_000;

const entriesPerStep = 64;

/** A million tokens, more than any model reads. */
const sizeMax = 2 ** 22;

const sizeOf = (value: unknown): number => {
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  return value instanceof Map ? value.size : 0;
};
