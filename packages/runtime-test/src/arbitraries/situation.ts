import type { AnswerableEffect, ConversationMachine, Event, State } from "@colloquy/machine";
import type { Move } from "./schedule.ts";
import type { TraceStep } from "./trace.ts";

/** What a move is read against. */
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

/** The element of this number, counted round and round. */
export const pickFrom = <Element>(elements: readonly Element[], pick: number): Element | undefined =>
  elements[pick % Math.max(1, elements.length)];

/** Of the outstanding effects of a type, the one that is picked; undefined where there is none. */
export const pickEffect = <Type extends AnswerableEffect["type"]>(
  { out }: Situation,
  type: Type,
  pick: number,
): Extract<AnswerableEffect, { readonly type: Type }> | undefined =>
  pickFrom(
    out.filter((effect): effect is Extract<AnswerableEffect, { readonly type: Type }> => effect.type === type),
    pick,
  );

/** An answer to an effect that was never asked for. */
export const strayTimer = (at: number): Event => ({
  type: "timer.fired",
  at,
  effectId: "a timer that nobody started",
});
