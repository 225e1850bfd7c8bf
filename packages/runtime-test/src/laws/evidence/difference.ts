/**
 * Describes the first difference of two plain values; null if they are the same. A member that is undefined differs
 * from an absent one, because JSON turns the former into the latter.
 */
export const differenceOf = (expected: unknown, actual: unknown, path = ""): string | null => {
  if (isSame(expected, actual)) return null;
  if (!isObject(expected) || !isObject(actual)) return at(path, expected, actual);
  if (Object.getPrototypeOf(expected) !== Object.getPrototypeOf(actual)) {
    return `${path || "the whole"}: expected ${kindOf(expected)}, got ${kindOf(actual)}`;
  }
  const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  for (const key of keys) {
    const inner = path === "" ? key : `${path}.${key}`;
    if (!Object.hasOwn(expected, key)) return `${inner}: expected to be absent, got ${preview(actual[key])}`;
    if (!Object.hasOwn(actual, key)) return `${inner}: expected ${preview(expected[key])}, got nothing`;
    const difference = differenceOf(expected[key], actual[key], inner);
    if (difference !== null) return difference;
  }
  return null;
};

/** Compares without describing a path, because most values are the same. */
const isSame = (expected: unknown, actual: unknown): boolean => {
  if (Object.is(expected, actual)) return true;
  if (!isObject(expected) || !isObject(actual)) return false;
  if (Object.getPrototypeOf(expected) !== Object.getPrototypeOf(actual)) return false;
  const names = Object.keys(expected);
  return (
    names.length === Object.keys(actual).length &&
    names.every((name) => Object.hasOwn(actual, name) && isSame(expected[name], actual[name]))
  );
};

/** Returns what remains of a value after JSON. */
export const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

/** Returns a value as a short text. */
export const preview = (value: unknown): string => {
  const text = typeof value === "function" ? "a function" : (JSON.stringify(value) ?? String(value));
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
};

const shownMax = 160;

const at = (path: string, expected: unknown, actual: unknown): string =>
  `${path || "the whole"}: expected ${preview(expected)}, got ${preview(actual)}`;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const kindOf = (value: object): string => {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null) return "an object without a prototype";
  return Array.isArray(value) ? "a list" : `an object of ${value.constructor.name}`;
};
