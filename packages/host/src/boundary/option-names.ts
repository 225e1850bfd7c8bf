/** The names of options; the type has each of them named, and those marked that can't be left out. */
export type OptionNames<Options extends object> = {
  readonly [Name in keyof Required<Options>]: Pick<Options, Name> extends Required<Pick<Options, Name>>
    ? "required"
    : true;
};

/**
 * What is wrong with options as such, for callers in JavaScript: they are no object, have a member that is never read, as
 * one that is misspelt, or lack one that is required. What is `undefined` counts as left out. Null when there is nothing to say. No
 * value is shown, which may be an address with its password.
 *
 * @param of as its author would find it: `createHost`, `ask`.
 */
export const problemOfOptions = <Options extends object>(
  of: string,
  options: Options,
  names: { readonly [Name in keyof Required<Options>]: true | "required" },
): string | null => {
  const given: unknown = options;
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    const what = given === null ? "null" : Array.isArray(given) ? "a list" : `a value of type ${typeof given}`;
    return `${of} is given ${what}; it takes an object of ${Object.keys(names).join(", ")}`;
  }
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && !Object.hasOwn(names, name))
      return `${of} has no option ${JSON.stringify(name)}; there are ${Object.keys(names).join(", ")}`;
  }
  const missing = Object.entries(names).find(([name, kind]) => kind === "required" && isMissing(given, name));
  return missing === undefined ? null : `${of} needs the option ${JSON.stringify(missing[0])}, and it is missing`;
};

const isMissing = (given: object, name: string): boolean => (Reflect.get(given, name) ?? null) === null;
