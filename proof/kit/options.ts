import { availableParallelism } from "node:os";

/** An option of a command. */
export interface Option<Value> {
  readonly kind: "value" | "switch" | "positional";
  /** Shown in place of its value in the usage. */
  readonly placeholder: string;
  /** For the usage, in one line or more. */
  readonly about: string;
  /** May be given several times; of any other option the last one counts. */
  readonly repeats?: boolean;
  /** For the usage: reading it fails when it was left out. */
  readonly isRequired?: boolean;
  /** The value of what was given, which is nothing when the option was left out. @throws RangeError when it is invalid */
  readonly read: (given: readonly string[], name: string) => Value;
}

interface Bounds {
  readonly least?: number;
  readonly most?: number;
  /** Default `N`. */
  readonly placeholder?: string;
}

/** A whole number, of 1 or more where no bounds are given. */
export const whole = <Fallback extends number | null>(
  fallback: Fallback,
  about: string,
  bounds: Bounds = {},
): Option<number | Fallback> => ({
  kind: "value",
  placeholder: bounds.placeholder ?? "N",
  about: fallback === null ? about : `${about} (default ${fallback})`,
  read: (given, name) => numberIn(given, name, bounds) ?? fallback,
});

/** Whole numbers of 1 or more, with commas between, in ascending order. */
export const wholes = (fallback: readonly number[], about: string): Option<readonly number[]> => ({
  kind: "value",
  placeholder: "N,...",
  about: `${about} (default ${fallback.join(",")})`,
  read: (given, name) =>
    given.at(-1) === undefined
      ? fallback
      : (given.at(-1) ?? "")
          .split(",")
          .map((each) => numberIn([each], name, {}) ?? 0)
          .sort((one, other) => one - other),
});

/** The seed of all random values of a run; drawn itself when it is left out. */
export const seed = (about: string, bounds: Bounds = {}): Option<number> => ({
  kind: "value",
  placeholder: "S",
  about: `${about} (default: drawn)`,
  read: (given, name) => numberIn(given, name, { least: 0, ...bounds }) ?? Math.floor(Math.random() * numbersMax),
});

/** How many threads or processes do the work. */
export const workers: Option<number> = {
  ...whole(availableParallelism(), "", { placeholder: "W" }),
  about: "how many workers do it (default: as many as there are processors)",
};

/** One of some names. */
export const oneOf = <const Name extends string, const Fallback extends Name | null>(
  names: readonly Name[],
  fallback: Fallback,
  about: string,
): Option<Name | Fallback> => ({
  kind: "value",
  placeholder: "NAME",
  about,
  read: (given, name) => namesIn(given, name, names).at(-1) ?? fallback,
});

/** Some of several names; all of them when the option is left out. */
export const someOf = <Name extends string>(names: readonly Name[], about: string): Option<readonly Name[]> => ({
  kind: "value",
  placeholder: "NAME",
  about,
  repeats: true,
  read: (given, name) => (given.length === 0 ? names : namesIn(given, name, names)),
});

/** A mistake to build in, by its name; null for none. The usage says what each of them does. */
export const fault = <Name extends string>(
  faults: Readonly<Record<Name, string>>,
  about: string = "build a mistake in, to see that it is noticed",
): Option<Name | null> => {
  // The keys of an object of ours.
  const names = Object.keys(faults) as Name[];
  return oneOf(names, null, [`${about}:`, ...names.map((name) => `${name}: ${faults[name]}`)].join("\n"));
};

/** Any text; null when the option is left out. */
export const text = (placeholder: string, about: string): Option<string | null> => ({
  kind: "value",
  placeholder,
  about,
  read: (given) => given.at(-1) ?? null,
});

/** True when it is given. */
export const flag = (about: string): Option<boolean> => ({
  kind: "switch",
  placeholder: "",
  about,
  read: (given) => given.length > 0,
});

/** Nine digits: a person can copy them, and ten runs of each are still far from what a number can hold. */
const numbersMax = 999_999_999;

const numberIn = (
  given: readonly string[],
  name: string,
  { least = 1, most = numbersMax }: Bounds,
): number | undefined => {
  const last = given.at(-1);
  if (last === undefined) return undefined;
  const number = /^-?\d+$/.test(last) ? Number(last) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new RangeError(`--${name} is "${last}"; give a whole number from ${least} to ${most}`);
};

const namesIn = <Name extends string>(
  given: readonly string[],
  option: string,
  names: readonly Name[],
): readonly Name[] =>
  given.map((each) => {
    const name = names.find((known) => known === each);
    if (name === undefined) throw new RangeError(`--${option} is "${each}"; give one of ${names.join(", ")}`);
    return name;
  });
