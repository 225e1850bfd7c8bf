import type { Random } from "../kit/random.ts";

/** How one conversation is crashed. */
export interface Plan {
  readonly synchronous: "NORMAL" | "FULL";
  /** One for each boot that is killed; the boot after them is not. */
  readonly kills: readonly Kill[];
}

/** At the nth point of a boot's work, by itself, or so many milliseconds after it began, from outside. */
export type Kill = { readonly atPoint: number } | { readonly afterMs: number };

export const planOf = (random: Random): Plan => ({
  synchronous: random.percent(50) ? "NORMAL" : "FULL",
  kills: Array.from({ length: random.integer(1, 5) }, () =>
    random.percent(70) ? { atPoint: random.integer(1, pointsMax) } : { afterMs: random.integer(0, msMax) },
  ),
});

/** A bit over a third of the points of the whole conversation, so that most boots are killed and yet get on. */
const pointsMax = 90;

const msMax = 40;
