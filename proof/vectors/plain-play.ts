import { digestOf } from "@colloquy/machine";

/**
 * Returns a drawn value in the form of the files: texts of plain characters with a limited length, and numbers with at
 * most two decimals. Vectors do not test how a language prints 1e-7, or counts a script's characters.
 */
export const plainly = <Value>(value: Value, lengthMax: number): Value => {
  const plain = (each: unknown): unknown => {
    if (typeof each === "string") return plainText(each, lengthMax);
    if (typeof each === "number") return Number.isSafeInteger(each * 100) ? each : 7;
    if (Array.isArray(each)) return each.map(plain);
    if (typeof each !== "object" || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([name, inner]) => [plainText(name, lengthMax), plain(inner)]));
  };
  // Each value keeps its type.
  return plain(value) as Value;
};

const plainText = (text: string, lengthMax: number): string => {
  if (kept.includes(text) || (/^[\n\u0020-\u007e\u00c0-\u00ff]*$/.test(text) && text.length <= lengthMax)) return text;
  if (/^[\n\u0020-\u007e\u00c0-\u00ff]*$/.test(text)) return text.slice(0, lengthMax);
  // Equal texts give the same word, and different texts mostly different ones.
  return words[Number.parseInt(digestOf(text).slice(-4), 36) % words.length] ?? text;
};

const kept: readonly string[] = ["👩‍👩‍👧‍👦🇺🇳é", "مرحبا", "naïve 👋"];
const words = [
  "amber",
  "basalt",
  "cedar",
  "delta",
  "ember",
  "fjord",
  "garnet",
  "heron",
  "iris",
  "juniper",
  "krill",
  "larch",
];
