/** The members of a JSON object that nobody has checked yet. */
export interface Fields {
  readonly [name: string]: unknown;
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns the objects of a list, and `{}` in the place of anything else. */
export const objectsIn = (value: unknown): readonly Fields[] =>
  listOf(value).map((each) => (isFields(each) ? each : {}));

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Returns a value as an error shows it. */
export const shown = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "None");

export const parsedJson = (text: unknown): unknown => {
  try {
    return typeof text === "string" ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
};

/** Returns the first text in a value, a key included, that has half of a surrogate pair; null if all are well-formed. */
export const illFormedText = (value: unknown): string | null => {
  if (typeof value === "string") return value.isWellFormed() ? null : value;
  if (Array.isArray(value)) return firstOf(value, illFormedText);
  return isFields(value)
    ? firstOf(Object.entries(value), ([name, member]) => illFormedText(name) ?? illFormedText(member))
    : null;
};

/** Returns the first result that is neither null nor false. */
export const firstOf = <Each, Found>(
  list: readonly Each[],
  find: (each: Each, index: number) => Found | null | false,
): Found | null => {
  for (const [index, each] of list.entries()) {
    const found = find(each, index);
    if (found !== null && found !== false) return found;
  }
  return null;
};
