/**
 * Formats a value for an error message: as JSON if possible, texts in quotes, and shortened if it is long. Never
 * throws.
 */
export const preview = (value: unknown): string => {
  const text = inWords(value);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
};

/** In UTF-16 units. */
const longest = 160;

const inWords = (value: unknown): string => {
  if (typeof value === "function") return "a function";
  if (value instanceof Promise) return "a promise";
  if (typeof value !== "string" && (typeof value !== "object" || value === null)) return String(value);
  try {
    return JSON.stringify(value, numbersAsTheyAre) ?? "an object";
  } catch {
    return "an object";
  }
};

/** JSON would write null for non-finite numbers. */
const numbersAsTheyAre = (_: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
