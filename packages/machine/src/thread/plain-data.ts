// Plain data, as JSON has it: its types, its copies, problems of its values, and how it is frozen.

/** A value that JSON cannot express, with its place in the copied value. */
export class NotPlain {
  readonly problem: ValueProblem;

  constructor(problem: ValueProblem) {
    this.problem = problem;
  }
}

/**
 * Returns a deeply frozen copy of a caller's value, equal to the value after a round trip through JSON. Values that
 * JSON would change (a date, an instance of a class, NaN, a cycle) are rejected. Members that are `undefined` or named
 * by a symbol are left out. Each member is read once. Throws errors of reading a member.
 *
 * @param levels The largest depth of nesting: a deeper value overflows the stack of code that walks it, and a cycle
 * has no end.
 * @param read Returns the value to copy in place of an object. Default: the object itself.
 */
export const plainCopy = (value: unknown, levels: number = mostNested, read?: (object: object) => unknown): unknown =>
  value === undefined ? notPlain(value) : plainly(value, levels, read);

/** The largest depth of an entry, or a whole journal. */
export const mostNested = 256;

/** The largest depth of an event. An entry contains it, a journal contains the entry, and both must be readable. */
export const mostNestedInEvent = mostNested - 2;

/** Returns why a value changes in a round trip through JSON, or null if it does not. */
export const problemOfJson = (value: unknown): ValueProblem | null => {
  const copy = plainCopy(value);
  return copy instanceof NotPlain ? copy.problem : null;
};

type Read = Parameters<typeof plainCopy>[2];

const plainly = (value: unknown, levels: number, read: Read): unknown => {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return value;
    case "number":
      // JSON has no negative zero.
      return Number.isFinite(value) ? value + 0 : notPlain(value);
    case "object":
      if (value === null) return null;
      if (levels === 0) return new NotPlain(wrong("is nested too deep, or holds itself"));
      return read === undefined ? membersCopied(value, levels - 1, read) : readAndCopied(value, levels - 1, read);
    default:
      return notPlain(value);
  }
};

const readAndCopied = (object: object, levels: number, read: NonNullable<Read>): unknown => {
  const value = read(object);
  if (value === undefined) return notPlain(value);
  return value === object ? membersCopied(object, levels, read) : plainly(value, levels, read);
};

const membersCopied = (object: object, levels: number, read: Read): object =>
  Array.isArray(object) ? listCopied(object, levels, read) : objectCopied(object, levels, read);

const listCopied = (list: readonly unknown[], levels: number, read: Read): readonly unknown[] | NotPlain => {
  const copies: unknown[] = [];
  for (let index = 0; index < list.length; index++) {
    const member = list[index];
    const copy = member === undefined ? notPlain(member) : plainly(member, levels, read);
    if (copy instanceof NotPlain) return new NotPlain(within(index, copy.problem));
    copies.push(copy);
  }
  return exact(copies);
};

const objectCopied = (object: object, levels: number, read: Read): object => {
  if (!isPlain(object))
    return new NotPlain(
      wrong(`is ${nameOf(object)}, which JSON has no word for; give what it says as text or plain data`),
    );
  const copy: { [name: string]: unknown } = {};
  // This loop skips members named by symbols. It is as fast as a spread, after which they would have to be searched
  // for.
  for (const name in object) {
    if (!Object.hasOwn(object, name)) continue;
    if (name === "__proto__")
      return new NotPlain(wrong('has a member "__proto__", which JavaScript objects do not keep'));
    const member: unknown = object[name as keyof typeof object];
    if (member === undefined) continue;
    const plain = typeof member === "string" ? member : plainly(member, levels, read);
    if (plain instanceof NotPlain) return new NotPlain(within(name, plain.problem));
    copy[name] = plain;
  }
  return Object.freeze(copy);
};

const notPlain = (value: unknown): NotPlain =>
  new NotPlain(
    wrong(
      `is ${typeof value === "number" ? value : value === undefined ? "undefined" : `a ${typeof value}`}, which JSON has no word for`,
    ),
  );

const nameOf = (instance: object): string => {
  // An instance of a class has a prototype.
  const { constructor: made } = Object.getPrototypeOf(instance) as object;
  return typeof made === "function" && made.name !== ""
    ? `${/^[AEIO]/.test(made.name) ? "an" : "a"} ${made.name}`
    : "an instance of a class";
};

/** A JSON value. State, events, effects and entries consist of these. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A JSON object. Absent and `undefined` members mean the same. */
export type JsonObject = { readonly [key: string]: Json | undefined };

/** Returns whether a value is an object and not a list. */
export const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns whether a value is a whole number ≥ 0. */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** An error about a value, and its place: member names and list indices, innermost first. */
export interface ValueProblem {
  readonly path: readonly (string | number)[];
  /** The required value, or the wrong one. */
  readonly reason: string;
}

export const within = (key: string | number, { path, reason }: ValueProblem): ValueProblem => ({
  path: [...path, key],
  reason,
});

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

/**
 * Formats a value for an error message: as JSON if possible, texts in quotes, and shortened if it is long. Never
 * throws.
 */
export const preview = (value: unknown): string => {
  const text = inWords(value);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
};

/** In UTF-16 units. */
const longest = 160;

const inWords = (value: unknown): string => {
  if (typeof value === "function") return "a function";
  if (value instanceof Promise) return "a promise";
  if (typeof value !== "string" && (typeof value !== "object" || value === null)) return String(value);
  try {
    return JSON.stringify(value, numbersAsTheyAre) ?? "an object";
  } catch {
    return "an object";
  }
};

/** JSON would write null for non-finite numbers. */
const numbersAsTheyAre = (_: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isFinite(value) ? String(value) : value;

// No live object leaves the machine, and it keeps no object of a caller. All objects of states, entries and effects
// are deeply frozen once, when they are created, and neither copied nor checked when they are read. So a frozen object
// found here is deeply frozen; only an object from a caller may be partly frozen.

/**
 * Deeply freezes an object in place. It must have been created here, without other owners. A frozen object counts as
 * deeply frozen, because it was created here before.
 */
export const frozen = <Value>(value: Value): Value => {
  if (typeof value === "object" && value !== null) freeze(value);
  return value;
};

const freeze = (value: object): void => {
  if (Object.isFrozen(value)) return;
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    for (let index = 0; index < list.length; index++) {
      const member = list[index];
      if (typeof member === "object" && member !== null) freeze(member);
    }
  } else {
    // Objects created here have only own members.
    for (const name in value) {
      const member: unknown = value[name as keyof typeof value];
      if (typeof member === "object" && member !== null) freeze(member);
    }
  }
  Object.freeze(value);
};

/**
 * Returns a frozen copy of a caller's plain data, so that later changes by the caller have no effect. Each member is
 * read once. Other objects (a date, an instance of a class) are kept, so that they can be rejected.
 *
 * @param stays tells which objects are not copied; by default those that are not plain data.
 */
export const frozenCopy = <Value>(value: Value, stays: (value: object) => boolean = isNoData): Value =>
  // A copy has the type of its original.
  typeof value === "object" && value !== null ? (copied(value, stays) as Value) : value;

/** An object that only its maker holds so far: it is completed member by member, and frozen before others see it. */
export type Fresh<Whole> = { -readonly [Name in keyof Whole]: Whole[Name] };

/**
 * Returns a frozen copy of a list that was made by pushing or spreading. Engines reserve memory for 16 more members in
 * such a list, and for none in its copy.
 */
export const exact = <Member>(list: readonly Member[]): readonly Member[] => Object.freeze(list.slice());

/** Returns a frozen copy that keeps frozen parts, which were created here. */
export const owned = <Value>(value: Value): Value => frozenCopy(value, isOwned);

const isOwned = (value: object): boolean => Object.isFrozen(value) || isNoData(value);

const isNoData = (value: object): boolean => !Array.isArray(value) && !isPlain(value);

const copied = (value: object, stays: (value: object) => boolean): object => {
  if (stays(value)) return value;
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    const copies: unknown[] = [];
    for (let index = 0; index < list.length; index++) {
      const member = list[index];
      copies.push(typeof member === "object" && member !== null ? copied(member, stays) : member);
    }
    return exact(copies);
  }
  const copy: { [name: string]: unknown } = { ...value };
  for (const name in copy) {
    const member = copy[name];
    if (typeof member === "object" && member !== null) copy[name] = copied(member, stays);
  }
  return Object.freeze(copy);
};

/**
 * Returns whether an object is plain data and not an instance of a class. Objects of another realm have another
 * prototype, whose own prototype is also null.
 */
const isPlain = (value: object): boolean => {
  // It returns an object or null.
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
};
