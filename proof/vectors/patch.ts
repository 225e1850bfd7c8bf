import { canonicalText, type JsonObject, type State } from "@colloquy/machine";

import type { StatePatch } from "./vector.ts";

/** Returns the difference of a state from the one before it. */
export const patchOf = (before: State, after: State): StatePatch => {
  const changes = differences("", contextOf(before), contextOf(after));
  const gone = changes.filter(({ value }) => value === undefined).map(({ path }) => path);
  const changed = changes.filter(({ value }) => value !== undefined).map(({ path, value }) => [path, value]);
  return {
    ...(isSame(before.value, after.value) ? {} : { value: after.value }),
    // Values that are read from a state are plain JSON.
    context: Object.fromEntries(changed) as JsonObject,
    ...(gone.length === 0 ? {} : { gone }),
  };
};

// A state is plain JSON.
const contextOf = ({ context }: State): JsonObject => context as unknown as JsonObject;

interface Change {
  readonly path: string;
  /** Undefined: it is gone. */
  readonly value: unknown;
}

const differences = (prefix: string, old: object, next: object): readonly Change[] => {
  const [from, to] = [membersOf(old), membersOf(next)];
  return [...new Set([...from.keys(), ...to.keys()])].flatMap((name): readonly Change[] => {
    const [former, value] = [from.get(name), to.get(name)];
    if (isSame(former, value)) return [];
    const path = `${prefix}${name}`;
    if (!isEntered(path) || !isObject(former) || !isObject(value) || !isAlike(former, value)) return [{ path, value }];
    return differences(`${path}.`, former, value);
  });
};

const membersOf = (value: object): ReadonlyMap<string, unknown> => new Map(Object.entries(value));

/** Whose members and items have names that are ours, so that none has a dot in it. */
const isEntered = (path: string): boolean =>
  /^(conversation(\.turns(\.levels(\.\d+)?)?)?|open(\.messages(\.levels(\.\d+)?)?)?|usage(\.total|\.betweenTurns)?|queue|dropped)$/.test(
    path,
  );

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Items are never taken away one by one. */
const isAlike = (former: object, value: object): boolean =>
  Array.isArray(former) && Array.isArray(value)
    ? former.length <= value.length
    : Array.isArray(former) === Array.isArray(value);

const isSame = (one: unknown, other: unknown): boolean => one === other || canonicalText(one) === canonicalText(other);
