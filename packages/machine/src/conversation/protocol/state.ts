import { frozen, frozenCopy, owned } from "../../thread/plain-data.ts";
import type { ConversationData } from "./data.ts";

/** The state of a conversation between two events: plain JSON, never changed in place. */
export interface State {
  /** XState's state value. */
  readonly value: StateValue;
  /** XState's context. */
  readonly context: ConversationData;
}

/**
 * Returns a state that the machine may hold: the same one if the machine created it, otherwise a frozen copy. A state
 * read from JSON belongs to the caller, even if its top level is frozen.
 */
export const ownedState = (state: State): State => {
  const { value, context } = state;
  if (!Object.isFrozen(context)) return owned({ value, context });
  return Object.isFrozen(context.conversation) ? state : frozenCopy({ value, context });
};

/** The innermost states, each with its XState value. */
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

/** The name of an innermost state. */
export type Leaf = keyof typeof stateValues;

/** The value of one of the five states, with its substate. */
export type StateValue =
  | "idle"
  | { readonly awaiting_llm: "responding" | "compacting" | "checking" | "backing_off" }
  | { readonly awaiting_tool: "running" | "awaiting_approval" }
  | "completed"
  | "error";

export type Phase = "idle" | "awaiting_llm" | "awaiting_tool" | "completed" | "error";

/** Returns which of the five states a conversation is in. */
export const phaseOf = (state: State): Phase => {
  if (typeof state.value === "string") return state.value;
  return "awaiting_llm" in state.value ? "awaiting_llm" : "awaiting_tool";
};
