import { ConfigurationError } from "../configuration-error.ts";
import { preview } from "../../thread/plain-data.ts";

/**
 * Rejects a value that is not an object of options, and unknown members. A member that is `undefined` counts as
 * absent.
 *
 * @param of the name in the author's code: `tokenWindow`, `budget`.
 */
export const checkKeys = (of: string, options: object, known: readonly string[]): void => {
  const problem = problemOfKeys(of, options, known);
  if (problem !== null) throw new ConfigurationError(problem);
};

/** Returns the same error as a text, or null. */
export const problemOfKeys = (of: string, options: unknown, known: readonly string[]): string | null => {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    return `${of} is given ${preview(options)}; it takes an object of ${known.join(", ")}`;
  }
  const unknown = Object.entries(options).find(([name, value]) => value !== undefined && !known.includes(name));
  return unknown === undefined ? null : `${of} has no option ${preview(unknown[0])}; there are ${known.join(", ")}`;
};

/**
 * Rejects a value that is not a whole number ≥ `least`.
 *
 * @param option the name in the author's code: `clearResults({ keep })`.
 */
export const checkCount = (option: string, value: number, least = 0): void => {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new ConfigurationError(`${option} is ${preview(value)}; it must be a whole number of ${least} or more`);
};

/** Rejects unknown words, which plain JavaScript may pass. */
export const checkWord = (option: string, value: string, known: readonly string[]): void => {
  if (known.includes(value)) return;
  const words = known.map((word) => `"${word}"`).join(" or ");
  throw new ConfigurationError(`${option} is ${preview(value)}; it must be ${words}`);
};

/** Rejects a value that is not a text, and empty texts. */
export const checkText = (option: string, value: string): void => {
  if (typeof value === "string" && value.trim() !== "") return;
  throw new ConfigurationError(`${option} is ${preview(value)}; it must be a text that says something`);
};

/** Rejects a value that is not a list of names. */
export const checkNames = (option: string, names: readonly string[]): void => {
  const given: unknown = names;
  if (!Array.isArray(given)) {
    throw new ConfigurationError(`${option}: ${preview(given)} is not a list of names; write ["name"]`);
  }
  for (const name of names) checkText(`${option}: a name`, name);
};

/**
 * Rejects a value that is not a share from 0 to 1.
 *
 * @param above true if 0 is invalid too.
 */
export const checkShare = (option: string, value: number, above = false): void => {
  if (typeof value === "number" && value <= 1 && (above ? value > 0 : value >= 0)) return;
  const range = above ? "above 0, at most 1 (which is all)" : "from 0 to 1";
  throw new ConfigurationError(`${option} is ${preview(value)}; it must be a share of the room, ${range}`);
};

/** Rejects a value that is neither true nor false. */
export const checkFlag = (option: string, value: boolean): void => {
  if (typeof value === "boolean") return;
  throw new ConfigurationError(`${option} is ${preview(value)}; it must be true or false`);
};
