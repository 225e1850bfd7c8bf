// Writes docs/conversation.mmd, and the same into docs/conversation.md, from the machine itself; `--check` fails when
// one of them is stale.
import { readFileSync, writeFileSync } from "node:fs";
import { conversationMachine } from "@colloquy/machine";

const chart = new URL("../docs/conversation.mmd", import.meta.url);
const page = new URL("../docs/conversation.md", import.meta.url);

const main = (): void => {
  const drawn = draw();
  const text = readFileSync(page, "utf8");
  const shown = pageWith(text, drawn);
  if (!process.argv.includes("--check")) {
    writeFileSync(chart, drawn);
    writeFileSync(page, shown);
    console.log("docs/conversation.mmd and docs/conversation.md are written");
    return;
  }
  if (readFileSync(chart, "utf8") === drawn && text === shown) {
    console.log("docs/conversation.mmd and docs/conversation.md are up to date");
    return;
  }
  console.error(
    "docs/conversation.mmd or the chart in docs/conversation.md is stale: run `pnpm diagram` and commit it",
  );
  process.exitCode = 1;
};

/** The page with the chart in its one block of mermaid. */
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

/** One line for each pair of states, with all the events that lead from one to the other. */
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
