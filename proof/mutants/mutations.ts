import { type Node, parseSync } from "oxc-parser";

import { programOf, type Source, walk } from "../../test/rules/source.ts";

/** A small fault in a file. */
export interface Mutant {
  /** From the root of the repository, with `/`. */
  readonly path: string;
  /** Its first line, from 1. */
  readonly line: number;
  /** The lines that it changes, joined to one line. The list of equivalent mutants names it by this and `mutated`. */
  readonly original: string;
  /** The same lines with the fault; empty if none of them remains. */
  readonly mutated: string;
  readonly start: number;
  readonly end: number;
  /** The text that replaces the source between `start` and `end`. */
  readonly replacement: string;
}

/**
 * Returns every mutant of a file, in order: exchanged operators, negated conditions, changed numbers and booleans,
 * removed statements. Types and the messages of errors are left alone.
 */
export const mutantsOf = (source: Source): readonly Mutant[] => {
  const mutants: Mutant[] = [];
  walk(programOf(source), (node, ancestors) => {
    if (ancestors.some(isType) || ancestors.some(isError)) return;
    for (const edit of editsOf(node, ancestors, source.text)) mutants.push(mutantOf(source, edit));
  });
  return mutants;
};

/** Returns the text of a file with a mutant in it; undefined if that is not valid TypeScript. */
export const mutatedText = ({ text }: Source, mutant: Mutant): string | undefined => {
  const mutated = replaced(text, mutant);
  return parseSync(mutant.path, mutated).errors.length === 0 ? mutated : undefined;
};

type Edit = Pick<Mutant, "start" | "end" | "replacement">;

const others: Readonly<Record<string, string>> = {
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "%": "*",
  "**": "*",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "==": "!=",
  "!=": "==",
  "&": "|",
  "|": "&",
  "^": "|",
  "<<": ">>",
  ">>": "<<",
  ">>>": "<<",
  "&&": "||",
  "||": "&&",
  "??": "&&",
  "+=": "-=",
  "-=": "+=",
  "*=": "/=",
  "??=": "=",
  "++": "--",
  "--": "++",
};

const editsOf = (node: Node, ancestors: readonly Node[], text: string): readonly Edit[] => {
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression":
    case "AssignmentExpression":
      return exchanged(node.operator, node.left.end, node.right.start, text);
    case "UpdateExpression":
      return exchanged(node.operator, node.start, node.end, text);
    case "UnaryExpression":
      return node.operator === "!" || node.operator === "-"
        ? [{ start: node.start, end: node.argument.start, replacement: "" }]
        : [];
    case "IfStatement":
      return [negated(node.test, text), ...(node.alternate === null ? removed(node) : [])];
    case "ConditionalExpression":
    case "WhileStatement":
    case "DoWhileStatement":
      return [negated(node.test, text)];
    case "ForStatement":
      return node.test === null ? [] : [negated(node.test, text)];
    case "Literal":
      return isKey(node, ancestors.at(-1)) ? [] : changed(node);
    case "ExpressionStatement":
      return isDirective(node) ? [] : removed(node);
    case "BreakStatement":
    case "ContinueStatement":
      return removed(node);
    default:
      return [];
  }
};

const exchanged = (operator: string, from: number, to: number, text: string): readonly Edit[] => {
  const other = others[operator];
  const start = text.indexOf(operator, from);
  if (other === undefined || start < 0 || start >= to) return [];
  return [{ start, end: start + operator.length, replacement: other }];
};

const negated = ({ start, end }: Node, text: string): Edit => ({
  start,
  end,
  replacement: `!(${text.slice(start, end)})`,
});

const removed = ({ start, end }: Node): readonly Edit[] => [{ start, end, replacement: ";" }];

const changed = (node: Node & { readonly type: "Literal" }): readonly Edit[] => {
  const { start, end, value } = node;
  if (typeof value === "boolean") return [{ start, end, replacement: String(!value) }];
  if (typeof value === "number") return [{ start, end, replacement: String(value + 1) }];
  return [];
};

/** Checks for nodes that are not code at run time. Casts count as code, like the code in them. */
const isType = ({ type }: Node): boolean => type.startsWith("TS") && !transparent.has(type);

const transparent: ReadonlySet<string> = new Set(["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression"]);

const isError = (node: Node): boolean =>
  node.type === "NewExpression" && node.callee.type === "Identifier" && node.callee.name.endsWith("Error");

const isKey = (node: Node, parent: Node | undefined): boolean =>
  parent?.type === "Property" && parent.key === node && !parent.computed;

const isDirective = (node: Node & { readonly type: "ExpressionStatement" }): boolean =>
  "directive" in node && typeof node.directive === "string";

const mutantOf = ({ path, text }: Source, edit: Edit): Mutant => {
  const start = text.lastIndexOf("\n", edit.start - 1) + 1;
  const newline = text.indexOf("\n", edit.end);
  const lines = { text: text.slice(start, newline < 0 ? text.length : newline), start: edit.start - start };
  const shown = edit.replacement === ";" ? "" : edit.replacement;
  const mutated = replaced(lines.text, { start: lines.start, end: edit.end - start, replacement: shown });
  return {
    path,
    line: text.slice(0, edit.start).split("\n").length,
    original: onOneLine(lines.text),
    mutated: onOneLine(mutated),
    ...edit,
  };
};

const replaced = (text: string, { start, end, replacement }: Edit): string =>
  text.slice(0, start) + replacement + text.slice(end);

const onOneLine = (lines: string): string => lines.trim().replaceAll(/\s+/g, " ");
