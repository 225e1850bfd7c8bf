import { conversationMachine } from "@colloquy/machine";
import type { AnyStateMachine } from "xstate";

type Node = AnyStateMachine["root"];

/** Every arrow of the statechart, in the words of the features. */
export const arrowsOfChart = (): readonly string[] => {
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
