import { digestOf } from "@colloquy/machine";

/**
 * Returns the name that a tool goes by on the wire: its own if it matches the pattern, else one that ends with a digest of it,
 * so that no two names become one, whatever other tools there are.
 */
export const toolNameOnWire = (name: string, pattern: string): string => {
  if (matches(pattern, name)) return name;
  const digest = alphanumeric(digestOf(name)).slice(0, 8);
  return `${characters(name, pattern).slice(0, 64 - digest.length - 1)}_${digest}`;
};

/** Returns the name of a speaker on the wire; undefined if the dialect has none, or if nothing of it is left. */
export const messageNameOnWire = (name: string, pattern: string | null): string | undefined => {
  if (pattern === null) return undefined;
  const written = matches(pattern, name) ? name : characters(name, pattern).slice(0, 64);
  return /[^_]/.test(written) ? written : undefined;
};

/** Whether a text matches a pattern of a dialect. */
export const matches = (pattern: string, text: string): boolean => {
  let compiled = compiledPatterns.get(pattern);
  if (compiled === undefined) compiledPatterns.set(pattern, (compiled = new RegExp(pattern, "u")));
  return compiled.test(text);
};

/** Patterns are those of dialects, so there are few. */
const compiledPatterns = new Map<string, RegExp>();

export const alphanumeric = (text: string): string => text.replaceAll(/[^0-9A-Za-z]/g, "");

/** The text with `_` for each character that a name of the pattern can't have. */
const characters = (name: string, pattern: string): string => {
  const written = Array.from(name.toWellFormed(), (one) => (matches(pattern, `a${one}`) ? one : "_")).join("");
  return matches(pattern, written.slice(0, 1)) ? written : `_${written}`;
};
