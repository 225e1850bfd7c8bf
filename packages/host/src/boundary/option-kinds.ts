import { ConfigurationError } from "@colloquy/machine";
import { problemOfOptions } from "./option-names.ts";

/** The values that an option takes. */
export interface OptionKind {
  /** Completes "it must be …". */
  readonly takes: string;
  readonly fits: (value: unknown) => boolean;
  /** The option cannot be left out. */
  readonly isNeeded?: true;
  /** An error may show a short text of this kind. It shows no text of other kinds, which may be a key. */
  readonly isWord?: true;
  /** An error shows only the type of a value. */
  readonly isSecret?: true;
}

/**
 * The kinds of all options of a function. The type requires a kind for each option, and marks those that cannot be left
 * out.
 */
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
  const all = Object.entries<OptionKind>(kinds);
  const names = Object.fromEntries(all.map(([name, { isNeeded }]) => [name, isNeeded === true ? "required" : true]));
  // It has just the names of the kinds.
  const problem = problemOfOptions(of, options, names as Parameters<typeof problemOfOptions<Options>>[2]);
  if (problem !== null) throw new ConfigurationError(problem);
  checkKinds(of, options, kinds);
};

/** Checks the values of some options. @throws ConfigurationError for one of another kind */
export const checkKinds = <Options extends object>(
  of: string,
  options: Options,
  kinds: Partial<OptionKinds<Options>>,
): void => {
  for (const [name, kind] of Object.entries<OptionKind | undefined>(kinds)) {
    const value: unknown = Reflect.get(options, name);
    if (kind !== undefined && value !== undefined) checkValue(`${of}: ${name}`, value, kind);
  }
};

/** Checks one value. @throws ConfigurationError if it is of another kind */
export const checkValue = (what: string, value: unknown, kind: OptionKind): void => {
  const { takes, fits, isNeeded, isWord, isSecret } = kind;
  if (fits(value)) return;
  const wayOut = value === null && isNeeded !== true ? "; leave it out for the default" : "";
  throw new ConfigurationError(
    `${what} must be ${takes} (got ${isSecret === true ? `a value of type ${typeof value}` : shown(value, isWord === true)})${wayOut}`,
  );
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
  tools: listOf(
    "tools that tool({ … }) made",
    (each) => call.fits(Reflect.get(Object(each), "run")) && object.fits(Reflect.get(Object(each), "declaration")),
  ),
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
