import type { History } from "./policy.ts";
import type { Start } from "./position.ts";

/** Where the newest units begin that together take no more than so many tokens; null where all do. */
export type NewestFitting = (tokens: number) => Start;

/**
 * The shortcut that a history has for it, the same as counting turn by turn, and faster; undefined where it has none.
 * It is no part of the type, and no spread or other copy of a history has it: of turns that somebody left out or
 * added, it would know nothing.
 */
export const newestFittingOf = (history: History): NewestFitting | undefined => {
  const withShortcut: History & { readonly [shortcut]?: NewestFitting } = history;
  return Object.hasOwn(history, shortcut) ? withShortcut[shortcut] : undefined;
};

/** The same history, with the shortcut. */
export const withNewestFitting = (history: History, newestFitting: NewestFitting): History =>
  Object.defineProperty({ ...history }, shortcut, { value: newestFitting, enumerable: false });

const shortcut: unique symbol = Symbol("newestFitting");
