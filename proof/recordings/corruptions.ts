import { isDeepStrictEqual } from "node:util";
import type { Json, JsonObject } from "@colloquy/machine";
import type { Random } from "../kit/random.ts";

/** A kind of damage that is done to one value of a record. */
export interface Corruption {
  readonly name: string;
  readonly of: RecordKind;
  /** The values that it is done to, as paths such as `/steps/2/content`. */
  readonly at: RegExp;
  /** Returns the damaged value, or undefined to leave the value out. */
  readonly change: (value: Json, random: Random) => Json | undefined;
  /** The second record that shows the damage: the exchange of a case, or the case of an exchange. */
  readonly shownBy?: "companion";
  /** Returns why a reader without the original cannot notice it in a record; null if it must be noticed. Default: null. */
  readonly unknowable?: (record: JsonObject) => string | null;
}

export type RecordKind = "case" | "responses case" | "stream" | "error" | "exchange" | "responses exchange";

/** Returns the kind of a record; null for a journal entry and other lines. */
export const kindOf = (record: JsonObject): RecordKind | null => {
  if ("steps" in record) return record["api"] === "responses" ? "responses case" : "case";
  if ("sse" in record) return "stream";
  if ("request" in record) return record["api"] === "responses" ? "responses exchange" : "exchange";
  return "response" in record ? "error" : null;
};

/** Damages one value of a record. Returns null if no damage of this kind would change the record. */
export const corrupted = (record: JsonObject, { at, change }: Corruption, random: Random): JsonObject | null => {
  const paths = pathsIn(record).filter((path) => at.test(path.join("/")));
  const from = random.integer(0, Math.max(0, paths.length - 1));
  for (const path of [...paths.slice(from), ...paths.slice(0, from)]) {
    const damaged = changedAt(record, path.slice(1), (value) => change(value, random));
    // The root of a record is an object, and only values inside it are damaged.
    if (!isDeepStrictEqual(damaged, record)) return damaged as JsonObject;
  }
  return null;
};

/** Returns the paths of all values inside a value, the value itself included. */
const pathsIn = (value: Json, path: readonly string[] = [""]): readonly (readonly string[])[] => [
  path,
  ...(typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([key, inner]) => (inner === undefined ? [] : pathsIn(inner, [...path, key])))),
];

const changedAt = (
  value: Json,
  [key, ...rest]: readonly string[],
  change: (value: Json) => Json | undefined,
): Json | undefined => {
  if (key === undefined) return change(value);
  const entries = Object.entries(value ?? {}).flatMap(([name, inner]: [string, Json]): [string, Json][] => {
    const changed = name === key ? changedAt(inner, rest, change) : inner;
    return changed === undefined ? [] : [[name, changed]];
  });
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
};
