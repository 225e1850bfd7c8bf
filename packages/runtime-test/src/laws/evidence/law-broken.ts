import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import type * as fc from "fast-check";

/** A broken law, with its name and the place where it broke. */
export class LawBroken extends Error {
  override readonly name = "LawBroken";
  /** The law's name: `M1` to `M14`, `P1` to `P11`, `R1`, … */
  readonly law: string;

  constructor(law: string, words: string, options?: ErrorOptions) {
    super(`${law}: ${words}`, options);
    this.law = law;
  }
}

export const requireSame = (law: string, what: string, expected: unknown, actual: unknown): void => {
  const difference = differenceOf(expected, actual);
  if (difference !== null) throw new LawBroken(law, `${what}: ${difference}`);
};

/** Returns the description of a broken law, without the law's name. */
export const wordsOf = ({ law, message }: LawBroken): string => message.slice(`${law}: `.length);

export const brokenBy = (run: () => void): LawBroken | null => {
  try {
    run();
    return null;
  } catch (thrown) {
    if (thrown instanceof LawBroken) return thrown;
    throw thrown;
  }
};

/**
 * Describes the first difference of two plain values; null if they are the same. A member that is undefined differs
 * from an absent one, because JSON turns the former into the latter.
 */
export const differenceOf = (expected: unknown, actual: unknown, path = ""): string | null => {
  if (isSame(expected, actual)) return null;
  if (!isObject(expected) || !isObject(actual)) return at(path, expected, actual);
  if (Object.getPrototypeOf(expected) !== Object.getPrototypeOf(actual)) {
    return `${path || "the whole"}: expected ${kindOf(expected)}, got ${kindOf(actual)}`;
  }
  const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  for (const key of keys) {
    const inner = path === "" ? key : `${path}.${key}`;
    if (!Object.hasOwn(expected, key)) return `${inner}: expected to be absent, got ${preview(actual[key])}`;
    if (!Object.hasOwn(actual, key)) return `${inner}: expected ${preview(expected[key])}, got nothing`;
    const difference = differenceOf(expected[key], actual[key], inner);
    if (difference !== null) return difference;
  }
  return null;
};

/** Compares without describing a path, because most values are the same. */
const isSame = (expected: unknown, actual: unknown): boolean => {
  if (Object.is(expected, actual)) return true;
  if (!isObject(expected) || !isObject(actual)) return false;
  if (Object.getPrototypeOf(expected) !== Object.getPrototypeOf(actual)) return false;
  const names = Object.keys(expected);
  return (
    names.length === Object.keys(actual).length &&
    names.every((name) => Object.hasOwn(actual, name) && isSame(expected[name], actual[name]))
  );
};

/** Returns what remains of a value after JSON. */
export const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

export const preview = (value: unknown): string => {
  const text = typeof value === "function" ? "a function" : (JSON.stringify(value) ?? String(value));
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
};

const shownMax = 160;

const at = (path: string, expected: unknown, actual: unknown): string =>
  `${path || "the whole"}: expected ${preview(expected)}, got ${preview(actual)}`;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const kindOf = (value: object): string => {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null) return "an object without a prototype";
  return Array.isArray(value) ? "a list" : `an object of ${value.constructor.name}`;
};

/** How often a law is checked, and from which seed. */
export interface HostLawRun {
  /** The number of conversations. Each law documents its default. */
  readonly runs?: number;
  /** Repeats a run that was reported. */
  readonly seed?: number;
  /** The path that was reported with the seed: leads to that same conversation. */
  readonly path?: string;
}

/** The kinds of the options that all checks share. Seeds of fast-check may be negative. */
export const runKinds: OptionKinds<HostLawRun> = {
  runs: kinds.whole(1),
  seed: kinds.word("a whole number", (value) => Number.isSafeInteger(value)),
  path: kinds.text,
};

export const parametersOf = (
  { runs, seed, path }: HostLawRun,
  defaultRuns: number,
): Pick<fc.Parameters, "seed" | "path"> & { readonly numRuns: number; readonly includeErrorInReport: true } => ({
  numRuns: runs ?? defaultRuns,
  includeErrorInReport: true,
  ...(seed === undefined ? {} : { seed }),
  ...(path === undefined ? {} : { path }),
});

/** Returns the parameters of a checked run. @throws ConfigurationError for an invalid `run` */
export const checkedParameters = (
  of: string,
  run: HostLawRun,
  defaultRuns: number,
): ReturnType<typeof parametersOf> => {
  checkOptions(of, run, runKinds);
  return parametersOf(run, defaultRuns);
};
