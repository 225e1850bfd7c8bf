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

/** As deep as a journal may be nested where it stands in an event. */
const mostNested = 200;

const plainList = (values: readonly unknown[], levels: number): Json | undefined => {
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
  if (Object.getOwnPropertySymbols(value).length > 0 || Object.hasOwn(value, "__proto__")) return undefined;
  const members: [string, Json][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const plain = plainJsonOf(member, levels);
    if (plain === undefined) return undefined;
    members.push([name, plain]);
  }
  return Object.fromEntries(members);
};
