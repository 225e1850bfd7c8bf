import type { Overlap, OverlapType } from "@colloquy/machine";
import fc from "fast-check";

/** All that can happen to an ask while a turn is open. */
export const overlapTypes: readonly OverlapType[] = ["reject", "queue", "merge", "latest", "interrupt", "steer"];

/** Any overlap policy; the bounded ones hold a few asks or none. */
export const overlapArbitrary: fc.Arbitrary<Overlap> = fc.oneof(
  fc.constantFrom<Overlap>({ type: "reject" }, { type: "latest" }, { type: "interrupt" }),
  fc
    .tuple(fc.constantFrom("queue" as const, "merge" as const, "steer" as const), fc.nat({ max: 3 }))
    .map(([type, max]): Overlap => ({ type, max })),
);
