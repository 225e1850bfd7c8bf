/** Something that a conversation has and the other format, or the thread, has no place for. */
export interface Loss {
  /** The place of the message (exporting) or of the item (importing) in its list, from 0. */
  readonly index: number;
  /** The id of the message, when exporting. */
  readonly messageId?: string;
  /** Where it stood: `parts.1`, `metadata`. Empty for the whole. */
  readonly path: string;
  /** What is not carried, or what was changed. */
  readonly what: string;
  readonly why: string;
}

/** A conversation in another format, and what of it that format can't hold. */
export interface Exported<Value> {
  readonly value: Value;
  readonly losses: readonly Loss[];
}

/** Notes a loss of the item that is being read. */
export type Lose = (path: string, what: string, why: string) => void;

/** Whether a member says nothing: null, absent, false, an empty text, list or object. Leaving it out loses nothing. */
export const saysNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === "" ||
  (typeof value === "object" && Object.keys(value).length === 0);

/** Notes each member of an object that was not read and says something. */
export const loseRest = (lose: Lose, path: string, rest: object, why: string): void => {
  for (const [key, value] of Object.entries(rest))
    if (!saysNothing(value)) lose(path === "" ? key : `${path}.${key}`, `the field "${key}"`, why);
};
