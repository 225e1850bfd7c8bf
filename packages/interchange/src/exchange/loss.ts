/** A piece of a conversation that the other format, or the thread, has no place for. */
export interface Loss {
  /** The index of the message (exporting) or of the item (importing) in its list, from 0. */
  readonly index: number;
  /** The id of the message, when exporting. */
  readonly messageId?: string;
  /** The path in the message: `parts.1`, `metadata`. Empty for the whole message. */
  readonly path: string;
  /** The piece that was lost or changed. */
  readonly what: string;
  readonly why: string;
}

/** A conversation in another format, and everything that the format cannot hold. */
export interface Exported<Value> {
  readonly value: Value;
  readonly losses: readonly Loss[];
}

/** Reports a loss of the current item. */
export type Lose = (path: string, what: string, why: string) => void;

/**
 * Returns whether a value is empty: null, absent, false, an empty text, list or object. Leaving it out loses nothing.
 */
export const saysNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === "" ||
  (typeof value === "object" && Object.keys(value).length === 0);

/** Returns a function that reports losses within a path. */
export const loseIn =
  (lose: Lose, outer: string): Lose =>
  (path, what, why) =>
    lose(path === "" ? outer : `${outer}.${path}`, what, why);

/** Reports each non-empty member of an object that was not read. */
export const loseRest = (lose: Lose, path: string, rest: object, why: string): void => {
  for (const [key, value] of Object.entries(rest))
    if (!saysNothing(value)) lose(path === "" ? key : `${path}.${key}`, `the field "${key}"`, why);
};
