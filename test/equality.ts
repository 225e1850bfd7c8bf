import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";

/**
 * Node compares two large values in a fraction of the time that vitest takes. Values that it finds strictly equal are
 * equal for every matcher; vitest compares all others itself.
 */
const strictlyEqual = (one: unknown, other: unknown): true | undefined =>
  typeof one === "object" && typeof other === "object" && isDeepStrictEqual(one, other) ? true : undefined;

// Here, and not in setup.ts, which is evaluated for each file of tests: files share a process, and this module.
expect.addEqualityTesters([strictlyEqual]);
