import * as Either from "fp-ts/lib/Either.js";
import type { AnyEventObject, AnyMachineSnapshot, AnyStateMachine, Snapshot } from "xstate";
import { frozen, owned } from "../thread/frozen.ts";
import { problemOfPersisted } from "./context-shape.ts";
import { readEvent } from "./protocol/event-shape.ts";

/**
 * The machine such that a live actor hands out nothing that can be written to, and that nothing but an event reaches it:
 * its snapshots, and the contexts that they hold, are as immutable as the states of `transition`, and what is no event
 * changes nothing. One that is restored goes on with a copy of what was persisted.
 */
export const guardedMachine = <Machine extends AnyStateMachine>(machine: Machine): Machine => {
  const getInitialSnapshot = machine.getInitialSnapshot.bind(machine);
  const transition = machine.transition.bind(machine);
  const restoreSnapshot = machine.restoreSnapshot.bind(machine);
  const provide = machine.provide.bind(machine);
  const overrides: Pick<AnyStateMachine, "getInitialSnapshot" | "provide" | "restoreSnapshot" | "transition"> = {
    getInitialSnapshot: (...given) => immutable(getInitialSnapshot(...given)),
    transition: (before, given, scope) => {
      const event = takenEvent(given);
      if (event === null) return before;
      const after = transition(before, event, scope);
      // What nothing was assigned to may be its caller's.
      return after.context === before.context ? after : immutable(after);
    },
    restoreSnapshot: (persisted, ...given) => immutable(restoreSnapshot(withOwnContext(persisted), ...given)),
    provide: (implementations) => guardedMachine(provide(implementations)),
  };
  return Object.assign(machine, overrides);
};

/**
 * What goes on to XState: a copy of an event, and what `stop()` of an actor sends; null for what is no event. XState itself
 * would throw for some of it (a type that is no text, `*`), and end the actor for others (`xstate.error.…`).
 *
 * @throws TypeError for what has no type that can be read. XState reads it again behind this, and an error there would
 *   leave the actor deaf for ever; thrown here it ends it, with the reason.
 */
const takenEvent = (given: unknown): AnyEventObject | null => {
  if (typeOf(given) === stopping) return { type: stopping };
  const read = readEvent(given);
  return Either.isLeft(read) ? null : read.right;
};

const typeOf = (given: unknown): unknown => {
  if (given === null || given === undefined)
    throw new TypeError(`an event is an object with a type; this is ${String(given)}`);
  return Reflect.get(Object(given), "type");
};

const stopping = "xstate.stop";

/** @throws TypeError for a snapshot that is damaged: an actor that began with it would end at one of its next events. */
const withOwnContext = <Persisted extends Snapshot<unknown>>(persisted: Persisted): Persisted => {
  if (!("context" in persisted)) return persisted;
  const problem = problemOfPersisted("value" in persisted ? persisted.value : undefined, persisted.context);
  if (problem !== null)
    throw new TypeError(
      `the persisted snapshot is damaged: ${problem}; begin from one that is whole, or fold the journal again`,
    );
  return Object.assign({}, persisted, { context: owned(persisted.context) });
};

const immutable = (snapshot: AnyMachineSnapshot): AnyMachineSnapshot => {
  frozen(snapshot.context);
  frozen(snapshot.value);
  return Object.freeze(snapshot);
};
