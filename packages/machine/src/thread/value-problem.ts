/** An error about a value, and its place: member names and list indices, innermost first. */
export interface ValueProblem {
  readonly path: readonly (string | number)[];
  /** The required value, or the wrong one. */
  readonly reason: string;
}

/** Returns the problem of a member as a problem of its container. */
export const within = (key: string | number, { path, reason }: ValueProblem): ValueProblem => ({
  path: [...path, key],
  reason,
});

/** Creates a problem of a value itself. */
export const wrong = (reason: string): ValueProblem => ({ path: [], reason });

/** Formats a problem: its place and its reason. */
export const describeValueProblem = ({ path, reason }: ValueProblem, whole: string): string =>
  `${path.length === 0 ? whole : describePath(path)} ${reason}`;

/** Formats the path of a problem: `reply.toolCalls.0`. A long one is shortened. */
export const describePath = (path: ValueProblem["path"]): string => {
  const names = path.toReversed();
  return names.length <= shownNames
    ? names.join(".")
    : `${names.slice(0, shownNames).join(".")}.… (${names.length} levels down)`;
};

const shownNames = 16;
