import * as Either from "fp-ts/lib/Either.js";
import type { AnyEventObject, AnyMachineSnapshot, AnyStateMachine, Snapshot } from "xstate";
import { frozen, owned } from "../thread/plain-data.ts";
import { problemOfPersisted } from "./context-shape.ts";
import { readEvent } from "./protocol/event-shape.ts";

/**
 * Makes a machine safe to run as a live actor. Its snapshots and their contexts are as immutable as the states of
 * `transition`. Anything but an event changes nothing. A restored actor continues with a copy of the persisted
 * snapshot.
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
      // If no action assigned a context, the context may still be the caller's object.
      return after.context === before.context ? after : immutable(after);
    },
    restoreSnapshot: (persisted, ...given) => immutable(restoreSnapshot(withOwnContext(persisted), ...given)),
    provide: (implementations) => guardedMachine(provide(implementations)),
  };
  return Object.assign(machine, overrides);
};

/**
 * Returns the event to pass on to XState: a copy of a valid event, or the event that an actor's `stop()` sends.
 * Returns null for anything else. For some of those XState would throw (a type that is not a string, `*`), and others
 * would stop the actor (`xstate.error.…`).
 *
 * @throws TypeError if the type cannot be read. XState reads it again later, and an error there would leave the actor
 * unresponsive; this error stops the actor with a reason.
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

/** @throws TypeError for a damaged snapshot: an actor that starts from it would fail at one of its next events. */
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
