import type { Node } from "oxc-parser";

import { programOf, type Source, walk } from "./rules/source.ts";

/** Returns the titles of unskipped tests after those of their groups: `who may ask > is asked for each thread`. */
export const titlesIn = (source: Source): readonly string[] => {
  const titles: string[] = [];
  walk(programOf(source), (node, ancestors) => {
    const own = titleOf(node);
    if (own === null || own.of === "describe") return;
    const around = ancestors.flatMap((ancestor) => titleOf(ancestor)?.title ?? []);
    if (![...ancestors, node].some(isSkipped)) titles.push([...around, own.title].join(" > "));
  });
  return titles;
};

const functions: ReadonlySet<string> = new Set(["test", "it", "describe"]);

/** Returns the title that a call gives a test or a group: `test("…")`, and `test.each(…)("…")`. */
const titleOf = (node: Node): { readonly of: string; readonly title: string } | null => {
  if (node.type !== "CallExpression") return null;
  const [first] = node.arguments;
  const title = first === undefined ? null : textOf(first);
  const { name } = calleeOf(node.callee);
  return title === null || !functions.has(name) ? null : { of: name, title };
};

const isSkipped = (node: Node): boolean =>
  node.type === "CallExpression" && calleeOf(node.callee).members.some((member) => ["skip", "todo"].includes(member));

/** Returns the function at the start of a chain of members and calls, and the names of the members. */
const calleeOf = (callee: Node): { readonly name: string; readonly members: readonly string[] } => {
  if (callee.type === "Identifier") return { name: callee.name, members: [] };
  if (callee.type === "CallExpression") return calleeOf(callee.callee);
  if (callee.type === "TaggedTemplateExpression") return calleeOf(callee.tag);
  if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return { name: "", members: [] };
  const { name, members } = calleeOf(callee.object);
  return { name, members: [...members, callee.property.name] };
};

const textOf = (node: Node): string | null =>
  node.type === "Literal" && typeof node.value === "string" ? node.value : null;
