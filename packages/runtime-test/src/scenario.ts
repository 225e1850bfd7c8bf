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

/** What a scenario starts from. */
export interface Given {
  readonly machine: ConversationMachine;
  /** How the thread begins. Default: thread `t`, at 0, with nothing in it. */
  readonly input?: ThreadInput;
  /** The events that came before; each must be handled. */
  readonly events?: readonly Event[];
}

/** What must come of the events: all of it, and nothing else. */
export interface Then {
  readonly phase: Phase;
  /** Every effect, in order. Of each, the members that are named must be so; the others may be anything. */
  readonly effects: readonly Expected[];
  /**
   * Every change of the data, as `dataOf` shows it, nested as the data is: a value or `anything` for each leaf that
   * changed, `absent` for one that is gone. `seq` and `updatedAt` follow from the events and are not named.
   */
  readonly changes: Expected;
  /** How each event that is refused is refused, in order. Default: none is. */
  readonly refusals?: readonly RefusalKind[];
}

/** A pattern of plain data. */
export type Expected = { readonly [key: string]: unknown };

/** Matches whatever is there. */
export const anything: unique symbol = Symbol("anything");

/** Matches where there was something, and is nothing now. */
export const absent: unique symbol = Symbol("absent");

/** A scenario that came out otherwise; the message lists each difference. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
}

/**
 * Sends a machine what happens, and holds it to all that is said to come of it: a change or an effect that is not
 * mentioned is an error, as is one that is mentioned and does not come. Gives the state that was reached.
 *
 * @throws ScenarioError with every difference, one a line.
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
 * A state's data as a scenario sees it: chunked lists as plain lists, and without what follows from the rest or from
 * the events alone (digests, `seq`, `updatedAt`).
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

/** The members that a pattern names, and no others. */
const patternDifferences = (path: string, expected: unknown, actual: unknown): readonly string[] => {
  if (expected === anything) return [];
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length !== actual.length) {
    return [`${path}: expected ${expected.length} elements, got ${actual.length}: ${shown(actual)}`];
  }
  if (!isObject(expected) || !isObject(actual)) return leafDifferences(path, expected, actual);
  return Object.keys(expected).flatMap((key) => patternDifferences(`${path}.${key}`, expected[key], actual[key]));
};

/** What changed between two values must be mentioned, and what is mentioned must have changed to that. */
const changeDifferences = (path: string, expected: unknown, before: unknown, after: unknown): readonly string[] => {
  const changed = shown(before) !== shown(after);
  const name = path === "" ? "data" : path;
  if (expected === anything) return changed ? [] : [`${name}: expected to change, and stays ${shown(after)}`];
  if (expected === absent) return after === undefined ? [] : [`${name}: expected to be gone, is ${shown(after)}`];
  if (expected === undefined) {
    // What changed inside is named leaf by leaf.
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
