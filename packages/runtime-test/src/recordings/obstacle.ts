import { saysCut } from "@colloquy/machine";

/** Why a replay can't go on. `inexpressible`: there is no event for what the recording did. */
export interface Obstacle {
  readonly kind: "difference" | "inexpressible";
  /** The index of the step; null before the first and behind the last. */
  readonly step: number | null;
  readonly words: string;
}

/** The machine did something else than was recorded. */
export const difference = (step: number | null, words: string): Obstacle => ({ kind: "difference", step, words });

/** What was recorded can't be expressed as events of the machine. */
export const inexpressible = (step: number | null, words: string): Obstacle => ({ kind: "inexpressible", step, words });

/** A machine runs none of the calls of a reply that was cut; null if the reply was whole, or called nothing. */
export const obstacleOfCut = (step: number, finishReason: string | null, calls: number): Obstacle | null =>
  calls > 0 && saysCut(finishReason)
    ? inexpressible(step, `the calls of a reply that was cut (${JSON.stringify(finishReason)}) are never run`)
    : null;
