/** What is wrong with a value, and where in it: names of members and places in lists, the innermost first. */
export interface ValueProblem {
  readonly path: readonly (string | number)[];
  /** What it has to be, or what it is. */
  readonly reason: string;
}

/** A problem of a member, as one of what it is a member of. */
export const within = (key: string | number, { path, reason }: ValueProblem): ValueProblem => ({
  path: [...path, key],
  reason,
});

/** A problem of a value itself. */
export const wrong = (reason: string): ValueProblem => ({ path: [], reason });

/** A problem in words: where, and what. */
export const describeValueProblem = ({ path, reason }: ValueProblem, whole: string): string =>
  `${path.length === 0 ? whole : describePath(path.toReversed())} ${reason}`;

const describePath = (path: readonly (string | number)[]): string =>
  path.length <= shownNames ? path.join(".") : `${path.slice(0, shownNames).join(".")}.… (${path.length} levels down)`;

const shownNames = 16;
