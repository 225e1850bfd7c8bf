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

/** Returns the first obstacle among some values. */
export const firstObstacle = <Value>(
  values: readonly Value[],
  obstacleOf: (value: Value) => Obstacle | null,
): Obstacle | null => {
  for (const value of values) {
    const obstacle = obstacleOf(value);
    if (obstacle !== null) return obstacle;
  }
  return null;
};
