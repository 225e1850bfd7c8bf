import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";

/**
 * Compares with Node, which takes a fraction of vitest's time for large values. Strictly equal values are equal for
 * every matcher; vitest compares all others itself.
 */
const strictlyEqual = (one: unknown, other: unknown): true | undefined =>
  typeof one === "object" && typeof other === "object" && isDeepStrictEqual(one, other) ? true : undefined;

// Not in setup.ts, which runs once for each test file: the files of a process share this module.
expect.addEqualityTesters([strictlyEqual]);
