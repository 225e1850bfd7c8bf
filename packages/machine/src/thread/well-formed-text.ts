/**
 * Makes all texts of plain data well-formed: half of a surrogate pair is replaced by U+FFFD, since servers reject it.
 * Returns the same reference if nothing is replaced.
 */
export const wellFormed = <Value>(value: Value): Value =>
  // The repaired value has the type of the original.
  isWellFormed(value) ? value : (repaired(value) as Value);

const isWellFormed = (value: unknown): boolean => {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    // By index: frozen lists have slow iterators.
    for (let index = 0; index < list.length; index++) if (!isWellFormed(list[index])) return false;
    return true;
  }
  for (const name in value) if (!name.isWellFormed() || !isWellFormed(value[name as keyof typeof value])) return false;
  return true;
};

const repaired = (value: unknown): unknown => {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(repaired);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), repaired(member)]));
};
