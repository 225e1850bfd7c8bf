/** What is wrong with a value, and where in it: names of members and places in lists, the innermost first. */
export interface ValueProblem {
  readonly path: readonly (string | number)[];
  /** What it has to be, or what it is. */
  readonly reason: string;
}

/** Deeper nesting overflows the stack of whoever walks through it, and what holds itself has no end. */
const mostNested = 256;

/**
 * Why a value is not the same once it was written as JSON and read again; null where it is. A member that is `undefined`
 * means the same as one that is absent.
 */
export const problemOfJson = (value: unknown, levels: number = mostNested): ValueProblem | null => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return null;
    case "number":
      return Number.isFinite(value) ? null : wrong(`is ${value}, which JSON has no word for`);
    case "object":
      if (value === null) return null;
      if (levels === 0) return wrong(`is nested more than ${mostNested} levels deep, or holds itself`);
      return Array.isArray(value) ? problemOfList(value, levels - 1) : problemOfObject(value, levels - 1);
    default:
      return wrong(`is ${value === undefined ? "undefined" : `a ${typeof value}`}, which JSON has no word for`);
  }
};

/** A problem of a member, as one of what it is a member of. */
export const within = (key: string | number, { path, reason }: ValueProblem): ValueProblem => ({
  path: [...path, key],
  reason,
});

/** A problem of a value itself. */
export const wrong = (reason: string): ValueProblem => ({ path: [], reason });

/** A problem in words: where, and what. */
export const describeValueProblem = ({ path, reason }: ValueProblem, whole: string): string =>
  `${path.length === 0 ? whole : path.toReversed().join(".")} ${reason}`;

const problemOfList = (list: readonly unknown[], levels: number): ValueProblem | null => {
  for (let index = 0; index < list.length; index++) {
    const problem = problemOfJson(list[index], levels);
    if (problem !== null) return within(index, problem);
  }
  return null;
};

const problemOfObject = (object: object, levels: number): ValueProblem | null => {
  // Of another realm it has another prototype, whose own prototype is null as well.
  // What it returns is an object or null.
  const prototype = Object.getPrototypeOf(object) as object | null;
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    return wrong(`is ${nameOf(prototype)}, which JSON has no word for; give what it says as text or plain data`);
  for (const [key, member] of Object.entries(object)) {
    if (key === "__proto__") return wrong('has a member "__proto__", which JavaScript objects do not keep');
    if (member === undefined) continue;
    const problem = problemOfJson(member, levels);
    if (problem !== null) return within(key, problem);
  }
  return null;
};

const nameOf = (prototype: object): string => {
  const { constructor: made } = prototype;
  return typeof made === "function" && made.name !== "" ? `a ${made.name}` : "an instance of a class";
};
