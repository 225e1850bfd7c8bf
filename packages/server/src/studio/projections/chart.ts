import type { ConversationMachine } from "@colloquy/machine";
import type { Chart, ChartArrow } from "../wire/wire.ts";

/** Returns the statechart of a machine, from its definition. Self-transitions are left out. Pure. */
export const chartOf = ({ root }: ConversationMachine): Chart => {
  const initial = (node: Node): string | undefined => node.initial?.target?.[0]?.key;
  return {
    states: Object.values<Node>(root.states).map((node) => ({
      name: node.key,
      initial: node.key === initial(root),
      below: Object.keys(node.states),
    })),
    arrows: Object.values<Node>(root.states).flatMap((node) =>
      [node, ...Object.values<Node>(node.states)].flatMap(arrowsFrom),
    ),
  };
};

type Node = ConversationMachine["root"]["states"][string];

const arrowsFrom = (node: Node): readonly ChartArrow[] => {
  const events = new Map<string, Set<string>>();
  for (const [event, transitions] of node.transitions) {
    for (const { target } of transitions) {
      const to = target?.[0]?.key;
      if (to !== undefined && to !== node.key) events.set(to, (events.get(to) ?? new Set<string>()).add(event));
    }
  }
  return [...events].map(([to, names]) => ({ from: node.key, to, events: [...names] }));
};
