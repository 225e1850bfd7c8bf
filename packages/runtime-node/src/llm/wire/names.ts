import { digestOf } from "@colloquy/machine";

/**
 * Returns the name of a tool, or the key of a property, on the wire. If it does not match the pattern, the name ends with a digest
 * of its own, so that two never get the same name.
 */
export const nameOnWire = (name: string, pattern: string): string => {
  if (matches(pattern, name)) return name;
  const digest = alphanumeric(digestOf(name)).slice(0, 8);
  return `${withAllowed(name, pattern).slice(0, 64 - digest.length - 1)}_${digest}`;
};

/** Returns the name of a speaker on the wire; undefined if the dialect has no names, or allows none of its characters. */
export const messageNameOnWire = (name: string, pattern: string | null): string | undefined => {
  if (pattern === null) return undefined;
  const written = matches(pattern, name) ? name : withAllowed(name, pattern).slice(0, 64);
  return /[^_]/.test(written) ? written : undefined;
};

/** The ids in a prompt so far. May begin with the ids of another one, which it reads and never changes. */
export class SeenIds {
  readonly #before: SeenIds | null;
  readonly #own = new Set<string>();

  constructor(before: SeenIds | null = null) {
    this.#before = before;
  }

  /** Adds an id. Returns false if it is there already. */
  add(id: string): boolean {
    const isNew = !this.#has(id);
    if (isNew) this.#own.add(id);
    return isNew;
  }

  #has(id: string): boolean {
    return this.#own.has(id) || (this.#before !== null && this.#before.#has(id));
  }
}

/**
 * Returns the id of a call on the wire, and adds it to the ids. It is the provider's id if that matches the pattern and is new;
 * otherwise it is made from the machine's id of the call.
 */
export const callIdOnWire = (ids: SeenIds, providerCallId: string | null, callId: string, pattern: string): string => {
  const isFree = (id: string | null): id is string => id !== null && matches(pattern, id) && ids.add(id);
  const plain = `call_${callId.replaceAll(/[^0-9A-Za-z]/g, "_")}`;
  let id = [providerCallId, plain].find(isFree);
  for (let round = 0; id === undefined; round++) {
    const digest = alphanumeric(digestOf([callId, round]));
    const short = digest.padStart(9, "0").slice(-9);
    // A dialect of the caller may have a pattern that neither matches: after 100 rounds, an id goes out that does not match.
    id = [short, `call_${short}`].find(isFree) ?? (round > 99 ? short : undefined);
  }
  return id;
};

const matches = (pattern: string, text: string): boolean => {
  const compiled = compiledPatterns.get(pattern) ?? new RegExp(pattern, "u");
  compiledPatterns.set(pattern, compiled);
  return compiled.test(text);
};

/** Dialects are few, and so are their patterns. */
const compiledPatterns = new Map<string, RegExp>();

const alphanumeric = (text: string): string => text.replaceAll(/[^0-9A-Za-z]/g, "");

/** Returns the name with `_` for each character that the pattern does not allow, and before a first one that may not be first. */
const withAllowed = (name: string, pattern: string): string => {
  // After a letter, since patterns may allow fewer characters at the beginning.
  const written = Array.from(name.toWellFormed(), (one) => (matches(pattern, `a${one}`) ? one : "_")).join("");
  return matches(pattern, written.slice(0, 1)) ? written : `_${written}`;
};
