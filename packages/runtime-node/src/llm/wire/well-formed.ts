import type { Json } from "@colloquy/machine";

/**
 * Returns a value in which each half of a surrogate pair is U+FFFD: `JSON.stringify` would write the half as an escape, which
 * parsers of servers refuse. A value that has none is returned itself.
 */
export const wellFormed = <Value>(value: Value): Value => repaired(value as Json) as Value;

const repaired = (value: Json | undefined): Json | undefined => {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) {
    const items = value.map((item) => repaired(item) ?? null);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  let changed = false;
  const members = Object.entries(value).map(([name, member]): [string, Json | undefined] => {
    const pair: [string, Json | undefined] = [name.toWellFormed(), repaired(member)];
    changed ||= pair[0] !== name || pair[1] !== member;
    return pair;
  });
  return changed ? Object.fromEntries(members) : value;
};

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
