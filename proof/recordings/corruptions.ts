import { isDeepStrictEqual } from "node:util";

import type { Json, JsonObject } from "@colloquy/machine";

import type { Random } from "../kit/random.ts";
import { isObject } from "./report.ts";

export interface Corruption {
  readonly name: string;
  readonly of: RecordKind;
  /** The values to damage, as paths such as `/steps/2/content`. */
  readonly at: RegExp;
  /** Returns the damaged value, or undefined to leave the value out. */
  readonly change: (value: Json, random: Random) => Json | undefined;
  /** The second record that shows the damage: the exchange of a case, or the case of an exchange. */
  readonly shownBy?: "companion";
  /** Returns why damage to a record cannot be noticed without the original; null if it must be. Default: null. */
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

/** Damages one value of a record. Returns null if this damage cannot change the record. */
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

type Change = Corruption["change"];

export const dropped: Change = () => undefined;

export const otherText: Change = (value, random) => {
  if (typeof value !== "string" || value === "") return value;
  const place = random.integer(0, value.length - 1);
  return `${value.slice(0, place)}${value[place] === "x" ? "y" : "x"}${value.slice(place + 1)}`;
};

export const otherNumber: Change = (value) => (typeof value === "number" ? value + 1 : value);

/** Changes a value of any kind that is not a list or an object. */
export const otherValue: Change = (value, ...rest) =>
  typeof value === "boolean" ? !value : typeof value === "number" ? value + 1 : otherText(value, ...rest);

export const oneOf =
  (...values: readonly Json[]): Change =>
  (value, random) =>
    random.pick(values.filter((each) => each !== value));

export const swapped: Change = (value, random) => {
  if (!Array.isArray(value) || value.length < 2) return value;
  // A JSON list has JSON items.
  return withNeighboursSwapped(value as readonly Json[], random.integer(0, value.length - 2));
};

export const withError: Change = (value) =>
  isObject(value) ? { ...value, error: { message: "Provider returned error", code: 502 } } : value;

export const inStream = {
  dropped: events((all, place) => all.toSpliced(place, 1)),
  repeated: events((all, place) => all.toSpliced(place, 0, all[place] ?? "")),
  swapped: events((all, place, next) =>
    all.map((event, at) => (at === place ? (all[next] ?? "") : at === next ? (all[place] ?? "") : event)),
  ),
  truncated: events((all, place) => all.slice(0, place)),
  withError: events((all, place) => all.toSpliced(place, 0, `data: ${JSON.stringify(errorEvent)}`)),
  withoutEnd: ((sse) => (typeof sse === "string" ? sse.replace(/data: ?\[DONE\]\s*/, "") : sse)) satisfies Change,
  otherReason: ((sse) =>
    typeof sse === "string"
      ? sse.replaceAll(
          /("finish_reason": ?)"(\w+)"/g,
          (_, key, reason) => `${key}"${reason === "stop" ? "length" : "stop"}"`,
        )
      : sse) satisfies Change,
  otherUsage: ((sse) =>
    typeof sse === "string"
      ? sse.replaceAll(/("(?:completion|output)_tokens": ?)(\d+)/g, (_, key, tokens) => `${key}${Number(tokens) + 1}`)
      : sse) satisfies Change,
} as const;

/** Changes one of the events of a stream that carry text or arguments of the answer. */
function events(change: (all: readonly string[], place: number, next: number) => readonly string[]): Change {
  return (sse, random) => {
    if (typeof sse !== "string") return sse;
    const between = /\r?\n\r?\n/.exec(sse)?.[0] ?? "\n\n";
    const all = sse.split(between);
    const places = all.flatMap((event, place) => (carries.test(event) ? [place] : []));
    const place = random.pick(places);
    if (place === undefined) return sse;
    return change(all, place, places[places.indexOf(place) + 1] ?? place).join(between);
  };
}

const carries = /"(?:content|arguments)": ?"[^"]*[\w.,!?][^"]*"|"type": ?"response\.[\w.]*delta"/;

const errorEvent = { error: { message: "The server had an error", type: "server_error", param: null, code: null } };

const withNeighboursSwapped = <Value>(values: readonly Value[], place: number): readonly Value[] => [
  ...values.slice(0, place),
  ...values.slice(place, place + 2).toReversed(),
  ...values.slice(place + 2),
];
