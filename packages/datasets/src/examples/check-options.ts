import { type OptionNames, problemOfOptions } from "@colloquy/host/store";
import { ConfigurationError } from "@colloquy/machine";

/** The words that options take which are one of a few. */
type OptionWords<Options> = { readonly [Name in keyof Options]?: readonly Options[Name][] };

/**
 * Checks the options of a function, for callers in JavaScript: a misspelt word would else count as the default.
 *
 * @throws ConfigurationError for an option that there is not, one that is missing, and a word that it does not take
 */
export const checkOptions = <Options extends object>(
  of: string,
  options: Options,
  names: OptionNames<Options>,
  words: OptionWords<Options>,
): void => {
  const problem = problemOfOptions(of, options, names);
  if (problem !== null) throw new ConfigurationError(problem);
  for (const [name, known] of Object.entries<readonly unknown[] | undefined>(words)) {
    const value: unknown = Reflect.get(options, name);
    if (value === undefined || known === undefined || known.includes(value)) continue;
    const there = known.map((word) => JSON.stringify(word)).join(" or ");
    throw new ConfigurationError(`${of}: ${name} is ${JSON.stringify(value)}; it must be ${there}`);
  }
};
