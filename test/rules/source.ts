import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { type Node, parseSync, type Program, visitorKeys } from "oxc-parser";

/** A file of the repository: its path from the root, with `/`, and what is in it. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/**
 * A rule that returns its findings in the repository, each with the place and the way out. Empty when the rule holds.
 */
export type Rule = (sources: readonly Source[]) => readonly string[];

/** One `import`, `export … from` or `import()` of a module. */
export interface Import {
  readonly specifier: string;
  /** Gone once the types are: it can't load anything, nor close a cycle. */
  readonly typeOnly: boolean;
  readonly line: number;
}

/** The files under a folder whose paths match, in order. */
export const sourcesIn = (root: string, globs: readonly string[]): readonly Source[] =>
  globSync(globs, { cwd: root, exclude: ["**/node_modules/**", "**/dist/**"] })
    .filter((path) => /\.(ts|json|md)$/.test(path))
    .map((path) => ({ path: path.replaceAll("\\", "/"), text: readFileSync(join(root, path), "utf8") }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));

/** Whether a path is that of a TypeScript module. */
export const isModule = ({ path }: Source): boolean => path.endsWith(".ts") && !path.endsWith(".d.ts");

/** The syntax tree of a module. A file that can't be parsed is an error of its own. */
export const programOf = (source: Source): Program => {
  const known = programs.get(source);
  if (known !== undefined) return known;
  const { program, errors } = parseSync(source.path, source.text);
  if (errors.length > 0) throw new SyntaxError(`${source.path}: ${errors[0]?.message}`);
  programs.set(source, program);
  return program;
};

/** Calls `visit` with each node, parents first, and with the node's ancestors, the nearest last. */
export const walk = (program: Program, visit: (node: Node, ancestors: readonly Node[]) => void): void => {
  const ancestors: Node[] = [];
  const descend = (node: Node): void => {
    visit(node, ancestors);
    ancestors.push(node);
    for (const child of childrenOf(node)) descend(child);
    ancestors.pop();
  };
  descend(program);
};

/**
 * The modules that a module names, in order. Looked for once, since seven rules ask, and below the top of a module only
 * where its text has an `import(`: the walk through all of it would take most of their time.
 */
export const importsOf = (source: Source): readonly Import[] => {
  const known = importsKnown.get(source);
  if (known !== undefined) return known;
  const imports: Import[] = [];
  const add = (node: Node): void => {
    const found = importOf(node);
    if (found !== undefined) imports.push({ ...found, line: lineAt(source, node.start) });
  };
  const program = programOf(source);
  if (/\bimport\s*\(/.test(source.text)) walk(program, add);
  else program.body.forEach(add);
  importsKnown.set(source, imports);
  return imports;
};

/** The line of an offset, from 1. */
export const lineAt = ({ text }: Source, offset: number): number => text.slice(0, offset).split("\n").length;

/** Whether a node has a body that runs later than its module does. */
export const isFunction = (node: Node): boolean =>
  node.type === "FunctionDeclaration" || node.type === "FunctionExpression" || node.type === "ArrowFunctionExpression";

const programs = new WeakMap<Source, Program>();

const importsKnown = new WeakMap<Source, readonly Import[]>();

/** Without a list for each key, most of which would be empty. */
const childrenOf = (node: Node): readonly Node[] => {
  const children: Node[] = [];
  const add = (child: Node | null | undefined): void => {
    if (child !== null && child !== undefined) children.push(child);
  };
  for (const key of visitorKeys[node.type] ?? []) {
    // The keys are the parser's own, and what they lead to is a node, a list of nodes with holes, or null.
    const child = (node as unknown as Record<string, Node | readonly (Node | null)[] | null>)[key];
    if (isList(child)) for (const each of child) add(each);
    else add(child);
  }
  return children;
};

const isList = (child: Node | readonly (Node | null)[] | null | undefined): child is readonly (Node | null)[] =>
  Array.isArray(child);

const importOf = (node: Node): Omit<Import, "line"> | undefined => {
  switch (node.type) {
    case "ImportDeclaration":
      return { specifier: node.source.value, typeOnly: node.importKind === "type" };
    case "ExportAllDeclaration":
      return { specifier: node.source.value, typeOnly: node.exportKind === "type" };
    case "ExportNamedDeclaration":
      return node.source === null ? undefined : { specifier: node.source.value, typeOnly: node.exportKind === "type" };
    case "TSImportType":
      return { specifier: node.source.value, typeOnly: true };
    case "ImportExpression":
      return node.source.type === "Literal" && typeof node.source.value === "string"
        ? { specifier: node.source.value, typeOnly: false }
        : undefined;
    default:
      return undefined;
  }
};
