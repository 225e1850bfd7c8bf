import { frozen } from "../../thread/plain-data.ts";
import type { ConversationData } from "./data.ts";

/** The state of a conversation between two events: plain JSON, never changed in place. */
export interface State {
  /** XState's state value. */
  readonly value: StateValue;
  /** XState's context. */
  readonly context: ConversationData;
}

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
