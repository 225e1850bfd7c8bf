import { availableParallelism } from "node:os";

export interface Option<Value> {
  readonly kind: "value" | "switch" | "positional";
  /** Stands for the value in the usage. */
  readonly placeholder: string;
  readonly about: string;
  /** The option may be given several times; of any other the last one counts. */
  readonly repeats?: boolean;
  /** The usage shows that the option must be given. */
  readonly isRequired?: boolean;
  /** Reads the given texts; there are none if the option was left out. @throws RangeError if one is invalid */
  readonly read: (given: readonly string[], name: string) => Value;
}

interface Bounds {
  readonly least?: number;
  readonly most?: number;
  /** Default `N`. */
  readonly placeholder?: string;
}

/** Reads a whole number, which must be at least 1 if no bounds are given. */
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

/** Reads whole numbers of 1 or more, with commas between. Returns them in ascending order. */
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

/** Reads the seed of all random values of a run. Draws one if it is left out. */
export const seed = (about: string, bounds: Bounds = {}): Option<number> => ({
  kind: "value",
  placeholder: "S",
  about: `${about} (default: drawn)`,
  read: (given, name) => numberIn(given, name, { least: 0, ...bounds }) ?? Math.floor(Math.random() * numbersMax),
});

export const workers: Option<number> = {
  ...whole(availableParallelism(), "", { placeholder: "W" }),
  about: "the number of workers (default: the number of processors)",
};

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

/** Reads some of several names; returns all of them if the option is left out. */
export const someOf = <Name extends string>(names: readonly Name[], about: string): Option<readonly Name[]> => ({
  kind: "value",
  placeholder: "NAME",
  about,
  repeats: true,
  read: (given, name) => (given.length === 0 ? names : namesIn(given, name, names)),
});

/** Reads the name of a fault to build in; null for none. The usage describes each. */
export const fault = <Name extends string>(
  faults: Readonly<Record<Name, string>>,
  about: string = "build a mistake in, to see that it is noticed",
): Option<Name | null> => {
  // The keys of this repository's own object.
  const names = Object.keys(faults) as Name[];
  return oneOf(names, null, [`${about}:`, ...names.map((name) => `${name}: ${faults[name]}`)].join("\n"));
};

/** Reads any text; null if the option is left out. */
export const text = (placeholder: string, about: string): Option<string | null> => ({
  kind: "value",
  placeholder,
  about,
  read: (given) => given.at(-1) ?? null,
});

export const flag = (about: string): Option<boolean> => ({
  kind: "switch",
  placeholder: "",
  about,
  read: (given) => given.length > 0,
});

/** Nine digits: a person can copy them, and the seeds of many runs still fit into a number. */
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
