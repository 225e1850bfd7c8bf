import {
  type Chunks,
  type ConversationMachine,
  type Effect,
  type Event,
  type Phase,
  phaseOf,
  type RefusalKind,
  start,
  type State,
  type ThreadInput,
  toArray,
  transition,
} from "@colloquy/machine";

/** The start of a scenario. */
export interface Given {
  readonly machine: ConversationMachine;
  /** The input of the thread. Default: thread `t`, at 0, empty. */
  readonly input?: ThreadInput;
  /** The events before the scenario; each must be handled. */
  readonly events?: readonly Event[];
}

/** The complete result of the events: anything else is an error. */
export interface Then {
  readonly phase: Phase;
  /** Every effect, in order. The named members of each must match; the others may have any value. */
  readonly effects: readonly Expected[];
  /**
   * Every change of the data as `dataOf` shows it, nested like the data. A leaf is a value or `anything` if it changed,
   * `absent` if it was removed. `seq` and `updatedAt` follow from the events and are not named.
   */
  readonly changes: Expected;
  /** The kind of each refusal, in order. Default: none. */
  readonly refusals?: readonly RefusalKind[];
}

/** A pattern of plain data. */
export type Expected = { readonly [key: string]: unknown };

/** Matches any value. */
export const anything: unique symbol = Symbol("anything");

/** Matches a value that existed before and does not exist now. */
export const absent: unique symbol = Symbol("absent");

/** A scenario with an unexpected result; the message lists each difference. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
}

/**
 * Sends events to a machine and compares the result with `then`. A change or effect that is not named is an error, and
 * so is a named one that does not occur. Returns the final state.
 *
 * @throws ScenarioError with every difference, one per line.
 */
export const scenario = (given: Given, when: readonly Event[], then: Then): State => {
  const before = stateGiven(given);
  let state = before;
  const effects: Effect[] = [];
  const refusals: RefusalKind[] = [];
  for (const event of when) {
    const result = transition(given.machine, state, event);
    if (!result.handled) refusals.push(result.refusal.kind);
    effects.push(...result.effects);
    state = result.state;
  }
  const handled = when.length - refusals.length;
  const found = [
    ...leafDifferences("phase", then.phase, phaseOf(state)),
    ...leafDifferences("refusals", (then.refusals ?? []).join(", "), refusals.join(", ")),
    ...leafDifferences("seq", before.context.seq + handled, state.context.seq),
    ...effectDifferences(then.effects, effects),
    ...changeDifferences("", then.changes, dataOf(before), dataOf(state)),
  ];
  if (found.length > 0)
    throw new ScenarioError(`the scenario came out otherwise:\n${found.map((line) => `  ${line}`).join("\n")}`);
  return state;
};

/**
 * Returns a state's data as a scenario sees it. Chunked lists become plain lists. It leaves out derived data (digests)
 * and `seq` and `updatedAt`, which follow from the events alone.
 */
export const dataOf = ({ context }: State): Expected => {
  const { seq: _, updatedAt: __, ...data } = context;
  const plain: unknown = JSON.parse(JSON.stringify(data), (key: string, value: unknown) => {
    if (key === "digest") return undefined;
    return isChunks(value) ? toArray(value) : value;
  });
  // An object's JSON is an object.
  return plain as Expected;
};

const stateGiven = ({ machine, input, events = [] }: Given): State => {
  let { state } = start(machine, input ?? { threadId: "t", at: 0 });
  for (const [index, event] of events.entries()) {
    const next = transition(machine, state, event);
    if (!next.handled)
      throw new ScenarioError(`event ${index} of those before (${event.type}) was refused: ${next.refusal.reason}`);
    state = next.state;
  }
  return state;
};

const effectDifferences = (expected: readonly Expected[], effects: readonly Effect[]): readonly string[] => {
  const lines: string[] = [];
  for (let index = 0; index < Math.max(expected.length, effects.length); index++) {
    const [pattern, effect] = [expected[index], effects[index]];
    const name = `effects.${index}`;
    if (pattern === undefined) lines.push(`${name}: not mentioned: ${shown(effect)}`);
    else if (effect === undefined) lines.push(`${name}: missing: ${shown(pattern)}`);
    else lines.push(...patternDifferences(name, pattern, effect));
  }
  return lines;
};

/** Compares the members that a pattern names, and no others. */
const patternDifferences = (path: string, expected: unknown, actual: unknown): readonly string[] => {
  if (expected === anything) return [];
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length !== actual.length) {
    return [`${path}: expected ${expected.length} elements, got ${actual.length}: ${shown(actual)}`];
  }
  if (!isObject(expected) || !isObject(actual)) return leafDifferences(path, expected, actual);
  return Object.keys(expected).flatMap((key) => patternDifferences(`${path}.${key}`, expected[key], actual[key]));
};

/** Checks that every change between two values is named, and that every named change occurred. */
const changeDifferences = (path: string, expected: unknown, before: unknown, after: unknown): readonly string[] => {
  const changed = shown(before) !== shown(after);
  const name = path === "" ? "data" : path;
  if (expected === anything) return changed ? [] : [`${name}: expected to change, and stays ${shown(after)}`];
  if (expected === absent) return after === undefined ? [] : [`${name}: expected to be gone, is ${shown(after)}`];
  if (expected === undefined) {
    // Changes inside an object are named leaf by leaf.
    if (isObject(before) && isObject(after)) return insideDifferences(path, {}, before, after);
    return changed ? [`${name}: not mentioned: was ${shown(before)}, is ${shown(after)}`] : [];
  }
  if (!isObject(expected) || !isObject(after)) {
    return shown(expected) === shown(after) && changed
      ? []
      : [`${name}: expected ${shown(expected)}, ${changed ? "is" : "stays"} ${shown(after)}`];
  }
  return insideDifferences(path, expected, isObject(before) ? before : {}, after);
};

const insideDifferences = (path: string, expected: Expected, before: Expected, after: Expected): readonly string[] => {
  const keys = new Set([...Object.keys(expected), ...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) =>
    changeDifferences(path === "" ? key : `${path}.${key}`, expected[key], before[key], after[key]),
  );
};

const leafDifferences = (path: string, expected: unknown, actual: unknown): readonly string[] =>
  Object.is(expected, actual) ? [] : [`${path}: expected ${shown(expected)}, got ${shown(actual)}`];

const isObject = (value: unknown): value is Expected => typeof value === "object" && value !== null;

const isChunks = (value: unknown): value is Chunks<unknown> =>
  isObject(value) && Array.isArray(value["levels"]) && typeof value["length"] === "number";

const shown = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) => (typeof inner === "symbol" ? inner.description : inner)) ?? "nothing";
