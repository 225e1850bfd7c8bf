/** The names of options. The type requires each name, and marks those that cannot be left out. */
export type OptionNames<Options extends object> = {
  readonly [Name in keyof Required<Options>]: Pick<Options, Name> extends Required<Pick<Options, Name>>
    ? "required"
    : true;
};

/**
 * Returns why options are invalid as a whole, for callers in JavaScript; null if they are valid. They may not be an
 * object, have an unknown member, such as a misspelt one, or lack a required one. A member that is `undefined` counts
 * as left out. No value is shown, since it may be an address with its password.
 *
 * @param of the function as its caller knows it: `createHost`, `ask`.
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
