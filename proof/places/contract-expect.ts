// Replaces vitest, which needs Node, inside a worker, with as much as the checks of `storeContract` use.
import { inspect, isDeepStrictEqual } from "node:util";

export const expect = (actual: unknown): Expectation => ({
  ...matchersOf(actual, true),
  not: matchersOf(actual, false),
  rejects: Object.fromEntries(
    Object.keys(matchers).map((name) => [
      name,
      async (expected: unknown) => {
        const [outcome] = await Promise.allSettled([actual]);
        if (outcome.status === "fulfilled") throw new Error(`it did not reject: ${name} ${inspect(expected)}`);
        matchersOf(outcome.reason, true)[name]?.(expected);
      },
    ]),
  ),
});

/** Registers nothing, as the worker calls the checks by their names. */
const register = (): void => {};
export { register as afterEach, register as describe, register as it };

type Assertions = Readonly<Record<string, (expected?: unknown) => void>>;

interface Expectation {
  readonly not: Assertions;
  readonly rejects: Readonly<Record<string, (expected?: unknown) => Promise<void>>>;
}

type Matcher = (actual: unknown, expected: unknown) => boolean;

const matchesObject: Matcher = (actual, expected) => {
  if (typeof expected !== "object" || expected === null) return Object.is(actual, expected);
  if (typeof actual !== "object" || actual === null) return false;
  if (Array.isArray(expected) && !(Array.isArray(actual) && actual.length === expected.length)) return false;
  return Object.entries(expected).every(([name, value]) => matchesObject(Reflect.get(actual, name), value));
};

const isSaid: Matcher = (text, expected) =>
  expected instanceof RegExp ? expected.test(String(text)) : String(text).includes(String(expected));

const matchers: Readonly<Record<string, Matcher>> = {
  toBe: Object.is,
  toEqual: isDeepStrictEqual,
  toBeNull: (actual) => actual === null,
  toBeInstanceOf: (actual, expected) => typeof expected === "function" && actual instanceof expected,
  toBeLessThan: (actual, expected) => Number(actual) < Number(expected),
  toContain: (actual, expected) =>
    typeof actual === "string" ? isSaid(actual, expected) : Array.isArray(actual) && actual.includes(expected),
  toHaveLength: (actual, expected) => Array.isArray(actual) && actual.length === expected,
  toMatch: isSaid,
  toMatchObject: matchesObject,
  toThrow: (actual, expected) => {
    const thrown = typeof actual === "function" ? thrownBy(() => Reflect.apply(actual, undefined, [])) : actual;
    if (!(thrown instanceof Error)) return false;
    return typeof expected === "function" ? thrown instanceof expected : isSaid(thrown.message, expected ?? "");
  },
};

const thrownBy = (act: () => unknown): unknown => {
  try {
    act();
    return undefined;
  } catch (thrown) {
    return thrown;
  }
};

const matchersOf = (actual: unknown, isMeant: boolean): Assertions =>
  Object.fromEntries(
    Object.entries(matchers).map(([name, holds]) => [
      name,
      (expected?: unknown) => {
        if (holds(actual, expected) === isMeant) return;
        throw new Error(`${isMeant ? "" : "not "}${name} ${inspect(expected)} does not hold of ${inspect(actual)}`);
      },
    ]),
  );
