import type { ActorScope } from "xstate";
import type { Effect } from "./effect.ts";
import type { ConversationMachine, Kernel, ToldEvent } from "./machine.ts";
import { kernel } from "./machine.ts";
import type { State } from "./state.ts";

/** What one step of the XState machine comes to. */
export interface StepResult {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/**
 * Steps the machine as XState's own `transition()` does, without building an actor for each event, which is most
 * of what that costs. A property holds the two equal. An event that no arrow takes gives the same state reference.
 */
export const step = (machine: ConversationMachine, state: State, event: ToldEvent): StepResult => {
  const { inert, snapshots } = machine[kernel];
  const effects: Effect[] = [];
  const before: Snapshot = { ...snapshots[leafOf(state.value)], context: state.context };
  const scope: Scope = {
    self: inert,
    system: inert.system,
    id: "",
    sessionId: "",
    logger: nothing,
    defer: nothing,
    stopChild: nothing,
    emit: nothing,
    actionExecutor: (action) => {
      // `perform` is the machine's only action of its own, and its params are the effect.
      if (action.type === "perform") effects.push(action.params as Effect);
    },
  };
  const after = machine.transition(before, event, scope);
  return {
    state: after === before ? state : { value: after.value, context: after.context },
    effects,
  };
};

type Snapshot = ReturnType<ConversationMachine["resolveState"]>;
type Scope = ActorScope<Snapshot, ToldEvent>;

const leafOf = (value: State["value"]): keyof Kernel["snapshots"] => {
  if (typeof value === "string") return value;
  return "awaiting_llm" in value ? value.awaiting_llm : value.awaiting_tool;
};

const nothing = (): void => {};
