import { type CanonicalItem, sameItem } from "./canonical-item.ts";
import { canonicalJson } from "./canonical.ts";
import { contrast } from "./difference.ts";

/** Describes the first difference of two lists of items; null if they are the same. */
export const firstItemDifference = (
  came: readonly CanonicalItem[],
  recorded: readonly CanonicalItem[],
): string | null => {
  for (let index = 0; index < Math.max(came.length, recorded.length); index++) {
    const [actual, expected] = [came[index], recorded[index]];
    if (actual === undefined)
      return `item ${index} is missing: recorded ${expected === undefined ? "nothing" : glimpseOfItem(expected)}`;
    if (expected === undefined) return `item ${index} is one too many: came ${glimpseOfItem(actual)}`;
    if (!sameItem(actual, expected)) return `item ${index} (${expected.type}): ${contrast(actual, expected)}`;
  }
  return null;
};

/** Returns the beginning of an item, to identify it. */
export const glimpseOfItem = ({ type, ...rest }: CanonicalItem): string =>
  `${type} ${canonicalJson(rest).slice(0, 80)}`;
