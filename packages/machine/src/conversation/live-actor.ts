import type { AnyMachineSnapshot, AnyStateMachine, Snapshot } from "xstate";
import { frozen, owned } from "../thread/frozen.ts";

/**
 * The machine such that a live actor hands out nothing that can be written to: its snapshots, and the contexts that they
 * hold, are as immutable as the states of `transition`. One that is restored goes on with a copy of what was persisted.
 */
export const handingOutNothingLive = <Machine extends AnyStateMachine>(machine: Machine): Machine => {
  const getInitialSnapshot = machine.getInitialSnapshot.bind(machine);
  const transition = machine.transition.bind(machine);
  const restoreSnapshot = machine.restoreSnapshot.bind(machine);
  const provide = machine.provide.bind(machine);
  const overrides: Pick<AnyStateMachine, "getInitialSnapshot" | "provide" | "restoreSnapshot" | "transition"> = {
    getInitialSnapshot: (...given) => immutable(getInitialSnapshot(...given)),
    transition: (before, ...given) => {
      const after = transition(before, ...given);
      // What nothing was assigned to may be its caller's.
      return after.context === before.context ? after : immutable(after);
    },
    restoreSnapshot: (persisted, ...given) => immutable(restoreSnapshot(withOwnContext(persisted), ...given)),
    provide: (implementations) => handingOutNothingLive(provide(implementations)),
  };
  return Object.assign(machine, overrides);
};

const withOwnContext = <Persisted extends Snapshot<unknown>>(persisted: Persisted): Persisted =>
  "context" in persisted ? Object.assign({}, persisted, { context: owned(persisted.context) }) : persisted;

const immutable = (snapshot: AnyMachineSnapshot): AnyMachineSnapshot => {
  frozen(snapshot.context);
  frozen(snapshot.value);
  return Object.freeze(snapshot);
};
