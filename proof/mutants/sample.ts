import { createHash } from "node:crypto";

import type { Mutant } from "./mutations.ts";

/**
 * `count` of the mutants, drawn by the seed; all of them when there are no more. Each mutant has its own lot, from its
 * text and not from its place, so a change to one line changes a sample by the mutants of that line and no other.
 */
export const drawn = (mutants: readonly Mutant[], count: number, seed: number): readonly Mutant[] => {
  const alike = new Map<string, number>();
  const lots = mutants.map((mutant) => {
    const name = [mutant.path, mutant.original, mutant.mutated].join("\n");
    const nth = alike.get(name) ?? 0;
    alike.set(name, nth + 1);
    return { mutant, lot: createHash("sha256").update(`${seed}\n${nth}\n${name}`).digest("hex") };
  });
  return lots
    .toSorted((one, other) => (one.lot < other.lot ? -1 : 1))
    .slice(0, count)
    .map(({ mutant }) => mutant);
};
