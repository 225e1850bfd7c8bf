import { ConfigurationError } from "@colloquy/machine";

/** The values that an option takes. */
export interface OptionKind {
  /** Completes "it must be …". */
  readonly takes: string;
  readonly fits: (value: unknown) => boolean;
  readonly isNeeded?: true;
  /** An error may show a short text of this kind. It shows no text of other kinds, which may be a key. */
  readonly isWord?: true;
  /** An error shows only the type of a value. */
  readonly isSecret?: true;
}

/** The kinds of all options of a function. The type requires each option, and marks those that cannot be left out. */
export type OptionKinds<Options extends object> = {
  readonly [Name in keyof Required<Options>]: Pick<Options, Name> extends Required<Pick<Options, Name>>
    ? OptionKind & { readonly isNeeded: true }
    : OptionKind;
};

/**
 * Checks the names and values of options, for callers in JavaScript. An option that is `undefined` counts as left out.
 *
 * @param of the function as its caller knows it: `session`, `linearise`.
 * @throws ConfigurationError for an option that is unknown, missing or of another kind
 */
export const checkOptions = <Options extends object>(
  of: string,
  options: Options,
  kinds: OptionKinds<Options>,
): void => {
  const problem = problemOfOptions(of, options, kinds);
  if (problem !== null) throw new ConfigurationError(problem);
};

/** Returns why options are invalid, as `checkOptions` does; null if they are valid. */
export const problemOfOptions = <Options extends object>(
  of: string,
  options: Options,
  kinds: OptionKinds<Options>,
): string | null => {
  const given: unknown = options;
  const names = (): string => Object.keys(kinds).join(", ");
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    const what = given === null ? "null" : Array.isArray(given) ? "a list" : `a value of type ${typeof given}`;
    return `${of} is given ${what}; it takes an object of ${names()}`;
  }
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && !Object.hasOwn(kinds, name))
      return `${of} has no option ${JSON.stringify(name)}; there are ${names()}`;
  }
  // Loops by name, since each ask is checked: lists of the kinds would cost several times as much.
  for (const name in kinds)
    if (kinds[name].isNeeded === true && (Reflect.get(given, name) ?? null) === null)
      return `${of} needs the option ${JSON.stringify(name)}, and it is missing`;
  return problemOfKinds(of, given, kinds);
};

const problemOfKinds = (
  of: string,
  given: object,
  kinds: { readonly [name: string]: OptionKind | undefined },
): string | null => {
  for (const name in kinds) {
    const kind = kinds[name];
    const value: unknown = Reflect.get(given, name);
    const problem = kind !== undefined && value !== undefined ? problemOfValue(`${of}: ${name}`, value, kind) : null;
    if (problem !== null) return problem;
  }
  return null;
};

/** Checks the values of some options. @throws ConfigurationError for one of another kind */
export const checkKinds = <Options extends object>(
  of: string,
  options: Options,
  kinds: Partial<OptionKinds<Options>>,
): void => {
  const problem = problemOfKinds(of, options, kinds);
  if (problem !== null) throw new ConfigurationError(problem);
};

export const checkValue = (what: string, value: unknown, kind: OptionKind): void => {
  const problem = problemOfValue(what, value, kind);
  if (problem !== null) throw new ConfigurationError(problem);
};

const problemOfValue = (what: string, value: unknown, kind: OptionKind): string | null => {
  const { takes, fits, isNeeded, isWord, isSecret } = kind;
  if (fits(value)) return null;
  const wayOut = value === null && isNeeded !== true ? "; leave it out for the default" : "";
  return `${what} must be ${takes} (got ${isSecret === true ? `a value of type ${typeof value}` : shown(value, isWord === true)})${wayOut}`;
};

const shown = (value: unknown, showsText: boolean): string => {
  if (value === "") return "an empty text";
  if (typeof value === "string") return showsText && value.length <= 40 ? JSON.stringify(value) : "a text";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "function" || typeof value === "symbol") return `a ${typeof value}`;
  return typeof value === "object" && value !== null ? "an object" : String(value);
};

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

const kind = (takes: string, fits: OptionKind["fits"]): OptionKind => ({ takes, fits });

const word = (takes: string, fits: OptionKind["fits"]): OptionKind => ({ takes, fits, isWord: true });

const object = kind("an object", (value) => typeof value === "object" && value !== null && !Array.isArray(value));

const call = kind("a function", (value) => typeof value === "function");

const having = (takes: string, ...methods: readonly string[]): OptionKind =>
  kind(takes, (value) => methods.every((method) => call.fits(Reflect.get(Object(value), method))));

const listOf = (what: string, fits: OptionKind["fits"]): OptionKind =>
  kind(`a list of ${what}`, (value) => Array.isArray(value) && value.every(fits));

/** Returns whether a value has what a tool has. */
export const isTool = (value: unknown): boolean =>
  call.fits(Reflect.get(Object(value), "run")) && object.fits(Reflect.get(Object(value), "declaration"));

/** The usual kinds of options, and makers of others. */
export interface Kinds {
  readonly text: OptionKind;
  readonly anyText: OptionKind;
  readonly flag: OptionKind;
  readonly number: OptionKind;
  readonly whole: (least: number) => OptionKind;
  readonly call: OptionKind;
  readonly object: OptionKind;
  readonly list: OptionKind;
  readonly listOf: (what: string, fits: OptionKind["fits"]) => OptionKind;
  readonly names: OptionKind;
  readonly signal: OptionKind;
  readonly tools: OptionKind;
  readonly schema: OptionKind;
  /** One of some words. */
  readonly oneOf: (...words: readonly string[]) => OptionKind;
  /** An object with some methods. */
  readonly having: (takes: string, ...methods: readonly string[]) => OptionKind;
  readonly store: OptionKind;
  /** Any value, which something else checks. */
  readonly anything: OptionKind;
  /** A kind that a function decides. */
  readonly of: (takes: string, fits: OptionKind["fits"]) => OptionKind;
  /** The same, for texts that errors may show. */
  readonly word: Kinds["of"];
  /** The same kind, for an option that cannot be left out. */
  readonly needed: (of: OptionKind) => OptionKind & { readonly isNeeded: true };
}

export const kinds: Kinds = {
  text: kind("a text that is not empty", isText),
  anyText: kind("a text", (value) => typeof value === "string"),
  flag: word("true or false", (value) => typeof value === "boolean"),
  number: word("a number", (value) => typeof value === "number" && !Number.isNaN(value)),
  whole: (least) => word(`a whole number ≥ ${least}`, (value) => Number.isSafeInteger(value) && Number(value) >= least),
  call,
  object,
  list: kind("a list", (value) => Array.isArray(value)),
  listOf,
  names: kind(
    "a list or a Set of names",
    (value) => (Array.isArray(value) || value instanceof Set) && [...value].every((name) => isText(name)),
  ),
  signal: having("an AbortSignal", "addEventListener", "throwIfAborted"),
  tools: listOf("tools that tool({ … }) made", (each) => isTool(each)),
  schema: kind("a Standard Schema of an object, such as z.object({ … })", (value) => "~standard" in Object(value)),
  oneOf: (...words) =>
    word(words.map((each) => JSON.stringify(each)).join(" or "), (value) => words.some((each) => each === value)),
  having,
  store: having("a store, such as memoryStore()", "append", "acquire", "read"),
  anything: kind("anything", () => true),
  of: kind,
  word,
  needed: (of) => ({ ...of, isNeeded: true }),
};
