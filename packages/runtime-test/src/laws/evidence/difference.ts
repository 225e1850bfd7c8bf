/**
 * The first place where two plain values differ, in words; null when they are the same. A member that is
 * undefined differs from one that is absent, since JSON keeps only the latter.
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

/** Most values are the same, and no path to a difference has to be put into words. */
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

/** What JSON keeps of a value. */
export const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

/** A value in a few words. */
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
