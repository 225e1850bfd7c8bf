import type { Untimed } from "./events.ts";

/**
 * An event with each of its members changed in turn, at any depth; its type stays. Some of them are not events any
 * more.
 */
export const changesOf = (event: Untimed): readonly Untimed[] =>
  pathsOf(event)
    .filter(([name]) => name !== "type" && name !== "at")
    // The changed value is passed as an event, so that the machine refuses it if it is not one.
    .flatMap((path) => changedValues(valueAt(event, path)).map((to) => withValue(event, path, to) as Untimed));

/** In place of a value: one of another kind, and some of its own kind that can't be everywhere. Undefined: it is not there. */
const changedValues = (value: unknown): readonly unknown[] => {
  if (typeof value === "string") return [undefined, 1];
  if (typeof value === "number") return [undefined, "1", -1, 0.5];
  if (typeof value === "boolean") return [undefined, 1, !value];
  return [undefined, null, Array.isArray(value) ? {} : []];
};

type Path = readonly (string | number)[];

const pathsOf = (value: unknown): readonly Path[] =>
  isIndexable(value)
    ? keysOf(value).flatMap((key) => [[key], ...pathsOf(value[key]).map((path) => [key, ...path])])
    : [];

const keysOf = (value: Indexable): Path => (Array.isArray(value) ? [...value.keys()] : Object.keys(value));

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, key) => (isIndexable(inner) ? inner[key] : undefined), value);

const withValue = (value: unknown, [key, ...path]: Path, to: unknown): unknown => {
  if (key === undefined || !isIndexable(value)) return to;
  const inner = withValue(value[key], path, to);
  if (Array.isArray(value)) return value.with(Number(key), inner ?? null);
  const { [key]: _, ...others } = value;
  return inner === undefined ? others : { ...others, [key]: inner };
};

type Indexable = Readonly<Record<string | number, unknown>>;
const isIndexable = (value: unknown): value is Indexable => typeof value === "object" && value !== null;
