import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { type Node, parseSync, type Program, visitorKeys } from "oxc-parser";

/** A file of the repository: its path from the root, with `/`, and its text. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/**
 * A rule returns its findings, each with the place and the remedy; none if the repository keeps the rule.
 */
export type Rule = (sources: readonly Source[]) => readonly string[];

/** One `import`, `export … from` or `import()` of a module. */
export interface Import {
  readonly specifier: string;
  /** The import has only types, so it loads nothing. */
  readonly typeOnly: boolean;
  readonly line: number;
}

/** Returns the files below a folder whose paths match, in order. */
export const sourcesIn = (root: string, globs: readonly string[]): readonly Source[] =>
  globSync(globs, { cwd: root, exclude: ["**/node_modules/**", "**/dist/**"] })
    .filter((path) => /\.(ts|json|md)$/.test(path))
    .map((path) => ({ path: path.replaceAll("\\", "/"), text: readFileSync(join(root, path), "utf8") }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));

/** Returns whether a file is a TypeScript module. */
export const isModule = ({ path }: Source): boolean => path.endsWith(".ts") && !path.endsWith(".d.ts");

/** Returns the syntax tree of a module. Throws if it can't be parsed. */
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
 * Returns the imports of a module, in order. It caches them for the seven rules that need them, and walks below the top
 * level only if the text has an `import(`, as that walk would take most of the rules' time.
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

/** Returns the line of an offset, from 1. */
export const lineAt = ({ text }: Source, offset: number): number => text.slice(0, offset).split("\n").length;

/** Returns whether a node has a body that runs later than its module. */
export const isFunction = (node: Node): boolean =>
  node.type === "FunctionDeclaration" || node.type === "FunctionExpression" || node.type === "ArrowFunctionExpression";

const programs = new WeakMap<Source, Program>();

const importsKnown = new WeakMap<Source, readonly Import[]>();

/** Returns the children of a node, without a list for each key: most would be empty. */
export const childrenOf = (node: Node): readonly Node[] => {
  const children: Node[] = [];
  const add = (child: Node | null | undefined): void => {
    if (child !== null && child !== undefined) children.push(child);
  };
  for (const key of visitorKeys[node.type] ?? []) {
    // Cast: the parser's own keys lead to a node, a list of nodes with holes, or null.
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
