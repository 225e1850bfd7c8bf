import { frozen, frozenCopy, owned } from "../../thread/frozen.ts";
import type { ConversationData } from "./data.ts";

/** A conversation at rest between two events: plain JSON, never changed in place. */
export interface State {
  /** XState's state value. */
  readonly value: StateValue;
  /** XState's context. */
  readonly context: ConversationData;
}

/**
 * A state as the machine holds it: the same one where it was made here, and a frozen copy of one that was read elsewhere,
 * such as from JSON, which stays its holder's, also where its surface is frozen.
 */
export const ownedState = (state: State): State => {
  const { value, context } = state;
  if (!Object.isFrozen(context)) return owned({ value, context });
  return Object.isFrozen(context.conversation) ? state : frozenCopy({ value, context });
};

/** The states that have none below them, each with XState's value of it. */
export const stateValues = frozen({
  idle: "idle",
  responding: { awaiting_llm: "responding" },
  compacting: { awaiting_llm: "compacting" },
  checking: { awaiting_llm: "checking" },
  backing_off: { awaiting_llm: "backing_off" },
  running: { awaiting_tool: "running" },
  awaiting_approval: { awaiting_tool: "awaiting_approval" },
  completed: "completed",
  error: "error",
} as const);

/** A state that has none below it. */
export type Leaf = keyof typeof stateValues;

/** The five states, and what goes on below them. */
export type StateValue =
  | "idle"
  | { readonly awaiting_llm: "responding" | "compacting" | "checking" | "backing_off" }
  | { readonly awaiting_tool: "running" | "awaiting_approval" }
  | "completed"
  | "error";

export type Phase = "idle" | "awaiting_llm" | "awaiting_tool" | "completed" | "error";

/** Which of the five states it is in. */
export const phaseOf = (state: State): Phase => {
  if (typeof state.value === "string") return state.value;
  return "awaiting_llm" in state.value ? "awaiting_llm" : "awaiting_tool";
};
