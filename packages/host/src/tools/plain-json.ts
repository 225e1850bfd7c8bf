import type { Json } from "@colloquy/machine";

/**
 * A copy of a value that is plain JSON already, members that are `undefined` left out; undefined for any other: one with a
 * date, a class, a BigInt, NaN, or itself in it.
 */
export const plainJsonOf = (value: unknown, levels: number = mostNested): Json | undefined => {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "object" || levels === 0) return undefined;
  return Array.isArray(value) ? plainList(value, levels - 1) : plainObject(value, levels - 1);
};

/** Why what `JSON.parse` gave would not be the same when it was journalled and read again; null where it would. */
export const problemOfJson = (value: Json | undefined, levels: number = mostNested): string | null => {
  if (typeof value === "number") return Number.isFinite(value) ? null : "a number is too large";
  if (typeof value !== "object" || value === null) return null;
  if (levels === 0) return `nested more than ${mostNested} levels deep`;
  if (Object.hasOwn(value, "__proto__")) return 'no member may be called "__proto__"';
  for (const member of Object.values(value)) {
    const problem = problemOfJson(member, levels - 1);
    if (problem !== null) return problem;
  }
  return null;
};

/** As deep as a journal may be nested where it stands in an event. */
const mostNested = 200;

const plainList = (values: readonly unknown[], levels: number): Json | undefined => {
  // A list may have members as well, and its length is one that is not enumerable.
  if (Reflect.ownKeys(values).length !== values.length + 1) return undefined;
  const list: Json[] = [];
  for (const value of values) {
    const plain = plainJsonOf(value, levels);
    if (plain === undefined) return undefined;
    list.push(plain);
  }
  return list;
};

const plainObject = (value: object, levels: number): Json | undefined => {
  // Of another realm it has another prototype, whose own prototype is null as well.
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return undefined;
  if (Object.hasOwn(value, "__proto__")) return undefined;
  // Symbols, and what is not enumerable, would not be shown.
  if (Reflect.ownKeys(value).length !== Object.keys(value).length) return undefined;
  const members: [string, Json][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const plain = plainJsonOf(member, levels);
    if (plain === undefined) return undefined;
    members.push([name, plain]);
  }
  return Object.fromEntries(members);
};
