/**
 * A value as a message of an error shows it: JSON as far as there is some, texts with their quotes, and cut off where
 * it is long. Total.
 */
export const preview = (value: unknown): string => {
  const text = inWords(value);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
};

/** Unit: UTF-16 units. */
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

/** JSON would make null of them. */
const numbersAsTheyAre = (_: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
