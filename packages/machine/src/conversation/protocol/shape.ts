import { isCount, isObject, type ValueProblem, within, wrong } from "../../thread/plain-data.ts";

/** Returns what is wrong with a value, or null. It allocates nothing for a valid value, so it is fast. */
export type Shape = (value: unknown) => ValueProblem | null;

export const text: Shape = (value) => (typeof value === "string" ? null : mustBe("a text", value));

export const bool: Shape = (value) => (typeof value === "boolean" ? null : mustBe("true or false", value));

export const number: Shape = (value) =>
  typeof value === "number" && Number.isFinite(value) ? null : mustBe("a number", value);

export const count: Shape = (value) => (isCount(value) ? null : mustBe("a whole number of 0 or more", value));

/** Accepts any copied value, because copies are plain data. */
export const json: Shape = (value) => (value === undefined ? mustBe("a JSON value", value) : null);

export const jsonObject: Shape = (value) => (isObject(value) ? null : mustBe("an object", value));

export const oneOf = (...values: readonly (string | number)[]): Shape => {
  const known: ReadonlySet<unknown> = new Set(values);
  const which = values.map((value) => JSON.stringify(value)).join(", ");
  return (value) => (known.has(value) ? null : mustBe(values.length === 1 ? which : `one of ${which}`, value));
};

export const trueOrAbsent: Shape = (value) =>
  value === undefined || value === true ? null : mustBe("true, or absent", value);

export const optional =
  (shape: Shape): Shape =>
  (value) =>
    value === undefined ? null : shape(value);

export const nullable =
  (shape: Shape): Shape =>
  (value) =>
    value === null ? null : shape(value);

export const list =
  (shape: Shape): Shape =>
  (value) => {
    if (!Array.isArray(value)) return mustBe("a list", value);
    for (let index = 0; index < value.length; index++) {
      const problem = shape(value[index]);
      if (problem !== null) return within(index, problem);
    }
    return null;
  };

/** Checks an object with these members; others are ignored. */
export const object = (members: { readonly [name: string]: Shape }): Shape => {
  const shapes = Object.entries(members).map(([name, shape]) => ({ name, shape }));
  return (value) => {
    if (!isObject(value)) return mustBe("an object", value);
    // Runs for each event, so it avoids an iterator.
    for (let index = 0; index < shapes.length; index++) {
      const member = shapes[index];
      const problem = member === undefined ? null : member.shape(value[member.name]);
      if (member !== undefined && problem !== null) return within(member.name, problem);
    }
    return null;
  };
};

/** Checks an object with these members and no others. Of many members most are absent, so it looks at those that are not. */
export const closed = (members: { readonly [name: string]: Shape }): Shape => {
  const required = Object.keys(members).filter((name) => members[name]?.(undefined) !== null);
  return (value) => {
    if (!isObject(value)) return mustBe("an object", value);
    for (const name in value) {
      if (!Object.hasOwn(members, name)) return wrong(`has a member ${name}`);
      const problem = members[name]?.(value[name]) ?? null;
      if (problem !== null) return within(name, problem);
    }
    for (let index = 0; index < required.length; index++) {
      const name = required[index] ?? "";
      if (value[name] === undefined) return within(name, mustBe("given", undefined));
    }
    return null;
  };
};

/** Checks an object whose kind is named by one of its members. */
export const byTag = (tag: string, kinds: { readonly [kind: string]: Shape }): Shape => {
  const shapes = new Map<unknown, Shape>(Object.entries(kinds));
  const known = oneOf(...Object.keys(kinds));
  return (value) => {
    if (!isObject(value)) return mustBe("an object", value);
    const shape = shapes.get(value[tag]);
    if (shape !== undefined) return shape(value);
    const problem = known(value[tag]);
    return problem === null ? null : within(tag, problem);
  };
};

/** Describes a value that must be something else. */
export const mustBe = (what: string, value: unknown): ValueProblem => wrong(`must be ${what} (got ${glimpse(value)})`);

/** Returns a short value itself, otherwise its kind. Never throws. */
export const glimpse = (value: unknown): string => {
  if (typeof value === "string")
    return JSON.stringify(value.length > mostShown ? `${value.slice(0, mostShown)}…` : value);
  if (Array.isArray(value)) return "a list";
  switch (typeof value) {
    case "object":
      return value === null ? "null" : "an object";
    case "function":
    case "symbol":
      return `a ${typeof value}`;
    case "bigint":
    case "boolean":
    case "number":
      return String(value);
    default:
      return "undefined";
  }
};

const mostShown = 40;
