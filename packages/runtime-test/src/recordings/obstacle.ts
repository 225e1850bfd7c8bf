import { saysCut } from "@colloquy/machine";

/** The reason why a replay cannot continue. `inexpressible`: there is no event for the recorded behaviour. */
export interface Obstacle {
  readonly kind: "difference" | "inexpressible";
  /** The index of the step; null before the first and after the last. */
  readonly step: number | null;
  readonly words: string;
}

/** Makes an obstacle for a machine that behaved differently than recorded. */
export const difference = (step: number | null, words: string): Obstacle => ({ kind: "difference", step, words });

/** Makes an obstacle for recorded behaviour that no event of the machine expresses. */
export const inexpressible = (step: number | null, words: string): Obstacle => ({ kind: "inexpressible", step, words });

/** Returns an obstacle if a cut-off reply has calls, since a machine runs none of them; otherwise null. */
export const obstacleOfCut = (step: number, finishReason: string | null, calls: number): Obstacle | null =>
  calls > 0 && saysCut(finishReason)
    ? inexpressible(step, `the calls of a reply that was cut (${JSON.stringify(finishReason)}) are never run`)
    : null;
