/** Where two JSON values first differ, as a path, and what stands at it in each; null where they are equal. The order of members is of no interest. */
export const firstDifference = (expected: unknown, found: unknown, path = ""): string | null => {
  if (expected === found) return null;
  if (!isObject(expected) || !isObject(found) || Array.isArray(expected) !== Array.isArray(found))
    return `${path === "" ? "the whole" : path}: expected ${shown(expected)}, found ${shown(found)}`;
  for (const name of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    const difference = firstDifference(expected[name], found[name], path === "" ? name : `${path}.${name}`);
    if (difference !== null) return difference;
  }
  return null;
};

const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null;

const shown = (value: unknown): string => {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
};
