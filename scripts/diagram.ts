// Writes the machine's chart to docs/conversation.mmd and into docs/conversation.md; `--check` fails when one of them
// is stale.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { conversationMachine } from "@colloquy/machine";

import { writeOrCheck } from "./generated.ts";

const root = dirname(import.meta.dirname);
const page = "docs/conversation.md";

const main = (): void => {
  const drawn = draw();
  const text = pageWith(readFileSync(join(root, page), "utf8"), drawn);
  writeOrCheck(root, { "docs/conversation.mmd": drawn, [page]: text }, "pnpm diagram");
};

/** Returns the page with the chart in its mermaid block. */
const pageWith = (text: string, drawn: string): string => {
  const block = /(```mermaid\n)[\s\S]*?(?=```)/;
  if (!block.test(text)) throw new Error("docs/conversation.md has no block of mermaid for the chart");
  return text.replace(block, (_, opening: string) => opening + drawn);
};

type Node = ReturnType<typeof conversationMachine>["root"];

const draw = (): string => {
  const { root } = conversationMachine();
  return [
    "stateDiagram-v2",
    ...Object.values(root.states).flatMap((node) => declare(node, "  ")),
    `  [*] --> ${root.initial.target?.[0]?.key ?? ""}`,
    ...nodesBelow(root).flatMap(arrowsFrom),
    // A second colon would end the note.
    `  note right of idle : everywhere and without leaving the state, ${[...root.transitions.keys()].join(", ")}`,
    "",
  ].join("\n");
};

const declare = (node: Node, indent: string): readonly string[] => {
  const children = Object.values(node.states);
  if (children.length === 0) return [`${indent}${node.key}`];
  return [
    `${indent}state ${node.key} {`,
    ...children.flatMap((child) => declare(child, `${indent}  `)),
    `${indent}  [*] --> ${node.initial.target?.[0]?.key ?? ""}`,
    `${indent}}`,
  ];
};

const nodesBelow = (node: Node): readonly Node[] =>
  Object.values(node.states).flatMap((child) => [child, ...nodesBelow(child)]);

/** Returns a line for each pair of states, with all events that lead from one to the other. */
const arrowsFrom = (node: Node): readonly string[] => {
  const events = new Map<string, Set<string>>();
  for (const [event, transitions] of node.transitions) {
    for (const { target } of transitions) {
      const to = target?.[0]?.key ?? node.key;
      events.set(to, (events.get(to) ?? new Set()).add(event));
    }
  }
  return [...events].map(([to, names]) => `  ${node.key} --> ${to} : ${[...names].join(", ")}`);
};

main();
