import { problemOfEvent } from "@colloquy/machine/hosting";

import { type Play, scriptOfPlay } from "./draw.ts";
import { featuresOf } from "./features.ts";
import { played } from "./record.ts";
import type { MachineData, Script } from "./vector.ts";

/**
 * Removes from a play what some features do not need: moves, then steps, options and input, then members and items of
 * the events. Returns its script. All events stay readable.
 */
export const smaller = (play: Play, features: ReadonlySet<string>): Script => {
  let least = scriptOfPlay(withFewerMoves(play, features));
  const attempt = (candidate: Script): boolean => {
    if (!showsAll(candidate, features)) return false;
    least = candidate;
    return true;
  };
  for (let from = least.steps.length - 1; from >= 0; from--)
    attempt({ ...least, steps: least.steps.toSpliced(from, 1) });
  reduce(least.start, (start) => attempt({ ...least, start }));
  for (const name of optional) attempt({ ...least, machine: without(least.machine, [name]) as MachineData });
  const { tools, limits, model } = least.machine;
  for (const [name, value] of Object.entries({ tools, limits, model })) {
    if (value !== undefined)
      reduce(value, (smaller) => attempt({ ...least, machine: { ...least.machine, [name]: smaller } }));
  }
  for (const index of least.steps.keys()) {
    const step = least.steps[index];
    if (step === undefined) continue;
    reduce(
      step.event,
      (event) =>
        problemOfEvent(event) === null && attempt({ ...least, steps: least.steps.with(index, { ...step, event }) }),
    );
  }
  return least;
};

/** Removes moves, which leaves the others valid; removing events would not, as later ones name ids of their turns. */
const withFewerMoves = (play: Play, features: ReadonlySet<string>): Play => {
  let least = play;
  for (let from = play.schedule.moves.length - 1; from >= 0; from--) {
    const { schedule } = least;
    const candidate = { ...least, schedule: { ...schedule, moves: schedule.moves.toSpliced(from, 1) } };
    if (showsAll(scriptOfPlay(candidate), features)) least = candidate;
  }
  return least;
};

/** The options that may be removed; each file states all others. */
const optional = ["idleTimeoutMs", "pricing", "calibrate", "warnAt"] as const;

/**
 * Offers a value repeatedly without one member or item, at any depth, or with a shorter text, and continues from each
 * accepted one.
 */
const reduce = <Value extends object>(value: Value, accepts: (smaller: Value) => boolean): void => {
  let least: unknown = value;
  const visit = (at: readonly (string | number)[]): void => {
    const inner = valueAt(least, at);
    if (typeof inner === "string" && inner.length > textMax) {
      const candidate = changed(least, at, inner.slice(0, textMax));
      if (accepts(candidate as Value)) least = candidate;
    }
    if (typeof inner !== "object" || inner === null) return;
    const keys = Array.isArray(inner) ? [...inner.keys()].toReversed() : Object.keys(inner);
    for (const key of keys) {
      const path = [...at, key];
      const candidate = without(least, path);
      // The type may be wrong without a member; then it is not accepted.
      if (accepts(candidate as Value)) least = candidate;
      else visit(path);
    }
  };
  visit([]);
};

const valueAt = (value: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>((inner, key) => (isIndexable(inner) ? inner[key] : undefined), value);

const textMax = 8;

const without = (value: unknown, path: readonly (string | number)[]): unknown => changed(value, path, undefined);

/** Returns the value with another one at a path; undefined removes it. */
const changed = (value: unknown, [key, ...path]: readonly (string | number)[], to: unknown): unknown => {
  if (key === undefined || !isIndexable(value)) return to;
  const inner = changed(value[key], path, to);
  if (Array.isArray(value))
    return inner === undefined ? value.toSpliced(Number(key), 1) : value.with(Number(key), inner);
  const members = Object.entries(value).map(([name, member]): [string, unknown] => [
    name,
    name === key ? inner : member,
  ]);
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
};

const isIndexable = (value: unknown): value is { readonly [key: string | number]: unknown } =>
  typeof value === "object" && value !== null;

const showsAll = (script: Script, features: ReadonlySet<string>): boolean => {
  try {
    const shown = featuresOf(played(script));
    for (const feature of features) if (!shown.has(feature)) return false;
    return true;
  } catch {
    // Some configurations and threads can't start without the removed part.
    return false;
  }
};
