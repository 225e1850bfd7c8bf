import { isPlain } from "./frozen.ts";
import { type ValueProblem, within, wrong } from "./value-problem.ts";

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
  value === undefined ? notPlain(value) : copied(value, levels, read);

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

const copied = (value: unknown, levels: number, read: Read): unknown => {
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
      return read === undefined ? membersCopied(value, levels - 1, read) : replaced(value, levels - 1, read);
    default:
      return notPlain(value);
  }
};

const replaced = (object: object, levels: number, read: NonNullable<Read>): unknown => {
  const value = read(object);
  if (value === undefined) return notPlain(value);
  return value === object ? membersCopied(object, levels, read) : copied(value, levels, read);
};

const membersCopied = (object: object, levels: number, read: Read): object =>
  Array.isArray(object) ? listCopied(object, levels, read) : objectCopied(object, levels, read);

const listCopied = (list: readonly unknown[], levels: number, read: Read): readonly unknown[] | NotPlain => {
  const copies: unknown[] = [];
  for (let index = 0; index < list.length; index++) {
    const member = list[index];
    const copy = member === undefined ? notPlain(member) : copied(member, levels, read);
    if (copy instanceof NotPlain) return new NotPlain(within(index, copy.problem));
    copies.push(copy);
  }
  return Object.freeze(copies);
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
    const plain = typeof member === "string" ? member : copied(member, levels, read);
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
