import type { Event, EventType } from "@colloquy/machine";
import fc from "fast-check";
import { type Fields, recordOf } from "./record.ts";

/** Arbitraries of events, by event type. */
export type ByType<Types extends EventType> = {
  readonly [Type in Types]: fc.Arbitrary<Extract<Event, { readonly type: Type }>>;
};

/** The time of an event: mostly a plausible one, sometimes one that makes no sense. */
const atArbitrary: fc.Arbitrary<number> = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1_700_000_000_000, max: 1_700_000_900_000 }) },
  fc.constantFrom(0, -1, 0.5, Number.MAX_SAFE_INTEGER),
);

/** The names of the tools that replies call. */
export const calledTools: readonly string[] = ["search", "weather"];

/**
 * Returns an arbitrary of events of a type, at any time. The events have all `required` fields, and each of the others
 * sometimes.
 */
export function eventOf<const Type extends EventType, Required extends object, Optional extends object = object>(
  type: Type,
  required: Fields<Required>,
  optional?: Fields<Optional>,
): fc.Arbitrary<{ readonly type: Type; readonly at: number } & NoInfer<Required> & Partial<Optional>> {
  return recordOf<{ readonly type: Type; readonly at: number } & Required, Optional>(
    // The compiler does not resolve a mapped type over an intersection.
    { type: fc.constant(type), at: atArbitrary, ...required } as Fields<{ type: Type; at: number } & Required>,
    optional,
  );
}
