import type { Event, EventType } from "@colloquy/machine";
import fc from "fast-check";
import { type Fields, recordOf } from "./record.ts";

/** Events of some types, each under its type. */
export type ByType<Types extends EventType> = {
  readonly [Type in Types]: fc.Arbitrary<Extract<Event, { readonly type: Type }>>;
};

/** When something is said to have happened: mostly some time, sometimes one that makes no sense. */
const atArbitrary: fc.Arbitrary<number> = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1_700_000_000_000, max: 1_700_000_900_000 }) },
  fc.constantFrom(0, -1, 0.5, Number.MAX_SAFE_INTEGER),
);

/** The tools that replies call. */
export const calledTools: readonly string[] = ["search", "weather"];

/** Events of a type at any time: with all of the first fields, and with each of the others now and then. */
export function eventOf<const Type extends EventType, Required extends object, Optional extends object = object>(
  type: Type,
  required: Fields<Required>,
  optional?: Fields<Optional>,
): fc.Arbitrary<{ readonly type: Type; readonly at: number } & NoInfer<Required> & Partial<Optional>> {
  return recordOf<{ readonly type: Type; readonly at: number } & Required, Optional>(
    // A mapped type over an intersection, which the compiler does not take apart.
    { type: fc.constant(type), at: atArbitrary, ...required } as Fields<{ type: Type; at: number } & Required>,
    optional,
  );
}
