import fc from "fast-check";

/** When something is said to have happened: mostly some time, sometimes one that makes no sense. */
export const atArbitrary: fc.Arbitrary<number> = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1_700_000_000_000, max: 1_700_000_900_000 }) },
  fc.constantFrom(0, -1, 0.5, Number.MAX_SAFE_INTEGER),
);

/** The tools that replies call. */
export const calledTools: readonly string[] = ["search", "weather"];

/** Members of these names are always there, the others now and then. */
export function only<const Keys extends string[]>(
  ...requiredKeys: Keys
): { requiredKeys: Keys[number][]; noNullPrototype: true } {
  return { requiredKeys, noNullPrototype: true };
}
