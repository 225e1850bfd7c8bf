import type { AnyStateMachine } from "xstate";
import { frozen } from "../thread/frozen.ts";
import type { Arrow, Plan } from "./update/plan.ts";
import { type Leaf, type State, type StateValue, stateValues } from "./protocol/state.ts";
import type { Event } from "./protocol/event.ts";

/** The targets of each event from each state, read from an XState machine. */
export type Arrows = { readonly [From in Leaf]: { readonly [eventType: string]: Targets | undefined } };

/** The target state of each arrow. */
export type Targets = { readonly [Taken in Arrow]?: StateValue };

/**
 * Reads the arrows of a machine once, so that a step is a look-up and does not interpret the statechart.
 *
 * Each guard asks for one plan. Among several transitions for the same event and plan, XState takes the first, and a
 * state's own before its parent's. This function reads them in that order; the law `equalStep` compares the two.
 */
export const arrowsOf = (machine: AnyStateMachine): Arrows =>
  // The list of leaves covers every key, as the type claims.
  frozen(Object.fromEntries(leaves.map((leaf) => [leaf, arrowsFrom(machine, leaf)])) as Arrows);

// The type of `stateValues` names exactly its keys.
const leaves = Object.keys(stateValues) as readonly Leaf[];

type Node = AnyStateMachine["root"];

const arrowsFrom = (machine: AnyStateMachine, leaf: Leaf): Arrows[Leaf] => {
  const arrows: { [eventType: string]: { [Taken in Arrow]?: StateValue } } = {};
  for (let node: Node | undefined = nodeOf(machine.root, leaf); node !== undefined; node = node.parent) {
    for (const [eventType, transitions] of node.transitions) {
      const targets = (arrows[eventType] ??= {});
      for (const { guard, target } of transitions) {
        const arrow = arrowOf(guard);
        const to = target?.[0]?.key;
        if (arrow !== undefined) targets[arrow] ??= stateValues[leaves.find((name) => name === to) ?? leaf];
      }
    }
  }
  return arrows;
};

const nodeOf = (node: Node, leaf: Leaf): Node | undefined => {
  for (const child of Object.values<Node>(node.states)) {
    const found = child.key === leaf ? child : nodeOf(child, leaf);
    if (found !== undefined) return found;
  }
  return undefined;
};

const arrowOf = (guard: unknown): Arrow | undefined => {
  const params = typeof guard === "object" && guard !== null && "params" in guard ? guard.params : undefined;
  if (params === "stays") return params;
  const leaf = leaves.find((name) => name === params);
  return leaf === "idle" ? undefined : leaf;
};

/**
 * Steps a conversation as XState's own `transition()` does. It uses the machine's arrows instead of interpreting the
 * statechart again for each event, which would cost most of the step. Returns null if the statechart has no such
 * arrow.
 */
export const step = (arrows: Arrows, state: State, event: Event, plan: Plan): State | null => {
  const value = arrows[leafOf(state.value)][event.type]?.[plan.arrow];
  if (value === undefined) return null;
  return Object.freeze({ value: plan.arrow === "stays" ? state.value : value, context: plan.data });
};

/** Returns the innermost state of a state value. */
const leafOf = (value: StateValue): Leaf => {
  if (typeof value === "string") return value;
  return "awaiting_llm" in value ? value.awaiting_llm : value.awaiting_tool;
};
