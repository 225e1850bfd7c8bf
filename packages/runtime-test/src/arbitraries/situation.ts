import type { AnswerableEffect, ConversationMachine, Event, State } from "@colloquy/machine";
import type { Move } from "./schedule.ts";
import type { TraceStep } from "./trace.ts";

/** The state in which a move is interpreted. */
export interface Situation {
  readonly index: number;
  readonly now: number;
  readonly state: State;
  readonly steps: readonly TraceStep[];
  readonly machine: ConversationMachine;
  readonly out: readonly AnswerableEffect[];
}

/** The moves of some names. */
export type MoveNamed<Name extends Move["move"]> = Extract<Move, { readonly move: Name }>;

/** Returns the element at an index, modulo the number of elements. */
export const pickFrom = <Element>(elements: readonly Element[], pick: number): Element | undefined =>
  elements[pick % Math.max(1, elements.length)];

/** Picks one of the outstanding effects of a type; undefined if there is none. */
export const pickEffect = <Type extends AnswerableEffect["type"]>(
  { out }: Situation,
  type: Type,
  pick: number,
): Extract<AnswerableEffect, { readonly type: Type }> | undefined =>
  pickFrom(
    out.filter((effect): effect is Extract<AnswerableEffect, { readonly type: Type }> => effect.type === type),
    pick,
  );

/** Returns an answer to an effect that was never requested. */
export const strayTimer = (at: number): Event => ({
  type: "timer.fired",
  at,
  effectId: "a timer that nobody started",
});
