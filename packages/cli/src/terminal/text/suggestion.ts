import { closestMatch } from "leven";

/** Returns ` (did you mean /undo?)` if one of the names is close to what was typed; otherwise an empty text. */
export const didYouMean = (typed: string, names: readonly string[]): string => {
  // Two letters may be exchanged; of a short word too little would be left.
  const maxDistance = Math.min(2, Math.floor(typed.replace(/^[/-]+/, "").length / 2));
  const close = maxDistance === 0 ? undefined : closestMatch(typed, names, { maxDistance });
  return close === undefined ? "" : ` (did you mean ${close}?)`;
};
