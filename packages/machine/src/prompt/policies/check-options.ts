import { ConfigurationError } from "../configuration-error.ts";
import { preview } from "../../thread/preview.ts";

/**
 * Refuses what is no object of options, and an unknown member. What is `undefined` counts as left out.
 *
 * @param of as its author would find it: `tokenWindow`, `budget`.
 */
export const checkKeys = (of: string, options: object, known: readonly string[]): void => {
  const problem = problemOfKeys(of, options, known);
  if (problem !== null) throw new ConfigurationError(problem);
};

/** The same in words; null when there is nothing to say. */
export const problemOfKeys = (of: string, options: unknown, known: readonly string[]): string | null => {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    return `${of} is given ${preview(options)}; it takes an object of ${known.join(", ")}`;
  }
  const unknown = Object.entries(options).find(([name, value]) => value !== undefined && !known.includes(name));
  return unknown === undefined ? null : `${of} has no option ${preview(unknown[0])}; there are ${known.join(", ")}`;
};

/**
 * Refuses what is no whole number of `least` or more.
 *
 * @param option as its author would find it: `clearResults({ keep })`.
 */
export const checkCount = (option: string, value: number, least = 0): void => {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new ConfigurationError(`${option} is ${preview(value)}; it must be a whole number of ${least} or more`);
};

/** Refuses what is none of the words that are known: JavaScript may give any. */
export const checkWord = (option: string, value: string, known: readonly string[]): void => {
  if (known.includes(value)) return;
  const words = known.map((word) => `"${word}"`).join(" or ");
  throw new ConfigurationError(`${option} is ${preview(value)}; it must be ${words}`);
};

/** Refuses a text that is empty, or none. */
export const checkText = (option: string, value: string): void => {
  if (typeof value === "string" && value.trim() !== "") return;
  throw new ConfigurationError(`${option} is ${preview(value)}; it must be a text that says something`);
};

/** Refuses what is no list of names. */
export const checkNames = (option: string, names: readonly string[]): void => {
  const given: unknown = names;
  if (!Array.isArray(given)) {
    throw new ConfigurationError(`${option}: ${preview(given)} is no list of names; write ["name"]`);
  }
  for (const name of names) checkText(`${option}: a name`, name);
};

/**
 * Refuses what is no share of the room, from 0 to 1.
 *
 * @param above 0 is none either.
 */
export const checkShare = (option: string, value: number, above = false): void => {
  if (typeof value === "number" && value <= 1 && (above ? value > 0 : value >= 0)) return;
  const range = above ? "above 0, at most 1 (which is all)" : "from 0 to 1";
  throw new ConfigurationError(`${option} is ${preview(value)}; it must be a share of the room, ${range}`);
};

/** Refuses what is neither true nor false. */
export const checkFlag = (option: string, value: boolean): void => {
  if (typeof value === "boolean") return;
  throw new ConfigurationError(`${option} is ${preview(value)}; it must be true or false`);
};
