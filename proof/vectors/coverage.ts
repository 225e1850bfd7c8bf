import { conversationMachine } from "@colloquy/machine";
import type { AnyStateMachine } from "xstate";

import { featuresOf } from "./features.ts";
import { played, scriptOf } from "./record.ts";
import type { Vector } from "./vector.ts";

/** The features that vectors show, and the arrows of the statechart that none of them takes. */
interface Coverage {
  readonly features: ReadonlySet<string>;
  readonly missing: readonly string[];
}

/** Returns the features that a set of vectors shows when the machine plays them now. */
export const coverageOf = (vectors: readonly Vector[]): Coverage => {
  const features = new Set(vectors.flatMap((vector) => [...featuresOf(played(scriptOf(vector)))]));
  const missing = arrowsOfChart().filter(
    (arrow) => !features.has(arrow) && !neverTaken.some((never) => never.test(arrow)),
  );
  return { features, missing };
};

/** Arrows that the chart contains but that no event ever takes. */
const neverTaken: readonly RegExp[] = [
  // Before the first turn no timer waits, and no effect is outstanding.
  /^(timer\.fired|llm\.completed|llm\.failed|cancel\.requested) leads from idle /,
  // An ask in idle opens a turn.
  /^ask\.received leads from idle to idle$/,
  // A thread is only edited between turns.
  /^(thread\.forked|thread\.redacted|turn\.added|answer\.truncated|head\.moved|checkpoint\.named) leads from (responding|compacting|checking|backing_off|running|awaiting_approval) /,
  // A call that waited in vain for a summary proceeds without it.
  /^llm\.failed leads from compacting to compacting$/,
];

type Node = AnyStateMachine["root"];

/** Returns every arrow of the statechart, worded like the features. */
const arrowsOfChart = (): readonly string[] => {
  const { root }: AnyStateMachine = conversationMachine();
  return leavesUnder(root).flatMap((leaf) => arrowsFrom(leaf));
};

const leavesUnder = (node: Node): readonly Node[] => {
  const children = Object.values<Node>(node.states);
  return children.length === 0 ? [node] : children.flatMap(leavesUnder);
};

const arrowsFrom = (leaf: Node): readonly string[] => {
  const arrows = new Set<string>();
  for (let node: Node | undefined = leaf; node !== undefined; node = node.parent) {
    for (const [event, transitions] of node.transitions)
      for (const { target } of transitions)
        arrows.add(`${event} leads from ${leaf.key} to ${target?.[0]?.key ?? leaf.key}`);
  }
  return [...arrows];
};
