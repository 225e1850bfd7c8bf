import { ConfigurationError } from "../configuration-error.ts";

/**
 * Refuses what is no whole number of `least` or more.
 *
 * @param option as its author would find it: `clearResults({ keep })`.
 */
export const checkCount = (option: string, value: number, least = 0): void => {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new ConfigurationError(`${option} is ${String(value)}; it must be a whole number of ${least} or more`);
};

/** Refuses what is none of the words that are known: whoever writes JavaScript may give any. */
export const checkWord = (option: string, value: string, known: readonly string[]): void => {
  if (known.includes(value)) return;
  const words = known.map((word) => `"${word}"`).join(" or ");
  throw new ConfigurationError(`${option} is ${inWords(value)}; it must be ${words}`);
};

/** Refuses a text that is empty, or none. */
export const checkText = (option: string, value: string): void => {
  if (typeof value === "string" && value.trim() !== "") return;
  throw new ConfigurationError(`${option} is ${inWords(value)}; it must be a text that says something`);
};

/** Refuses what is no list of names. */
export const checkNames = (option: string, names: readonly string[]): void => {
  const given: unknown = names;
  if (!Array.isArray(given)) {
    throw new ConfigurationError(`${option}: ${inWords(given)} is no list of names; write ["name"]`);
  }
  for (const name of names) checkText(`${option}: a name`, name);
};

const inWords = (value: unknown): string => (typeof value === "string" ? JSON.stringify(value) : String(value));
