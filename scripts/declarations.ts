import { posix } from "node:path";

import { type Node, parseSync, type Statement, visitorKeys } from "oxc-parser";

/** A file of declarations, as far as names in it lead to others. */
export interface Declarations {
  readonly statements: readonly Declared[];
  /** The names in the file that another file declares. */
  readonly imports: ReadonlyMap<string, Elsewhere>;
  /** The exports of the file, by the name outside. */
  readonly exports: ReadonlyMap<string, Exported>;
  /** Files and packages of which it exports everything. */
  readonly stars: readonly Star[];
  /** Files that it loads for what they add to others. */
  readonly additions: readonly string[];
}

/** A declaration at the top of a file. */
export interface Declared {
  readonly names: readonly string[];
  /** Without comments: what they say is not part of a type. */
  readonly code: string;
  /** Names of the file that it mentions. */
  readonly mentions: readonly string[];
  /** The types that it mentions by `import("./other.ts").Name`. */
  readonly elsewhere: readonly Elsewhere[];
  /** It adds to a module or to the globals, so it counts without a reference. */
  readonly isAddition: boolean;
}

/** Something of another file or package; null stands for all of it. */
export interface Elsewhere {
  readonly from: string;
  readonly name: string | null;
}

/** `export *`, or `export type *`. */
export interface Star {
  readonly isType: boolean;
  readonly from: string;
}

export interface Exported {
  readonly isType: boolean;
  readonly what: string | Elsewhere;
}

/** Reads a file of declarations, which tsc made: it exports by name. */
export const readDeclarations = (path: string, text: string): Declarations => {
  const { program, comments, errors } = parseSync(path, text);
  if (errors[0] !== undefined) throw new SyntaxError(`${path}: ${errors[0].message}`);
  const codeOf = ({ start, end }: Node): string => {
    let code = "";
    let at = start;
    for (const comment of comments) {
      if (comment.start < at || comment.end > end) continue;
      code += text.slice(at, comment.start);
      at = comment.end;
    }
    return withoutEmptyLines(code + text.slice(at, end));
  };
  const parts = program.body.map((statement) => partOf(statement, path, codeOf));
  return {
    statements: parts.flatMap(({ statements = [] }) => statements),
    imports: new Map(parts.flatMap(({ imports = [] }) => imports)),
    exports: new Map(parts.flatMap(({ exports = [] }) => exports)),
    stars: parts.flatMap(({ stars = [] }) => stars),
    additions: parts.flatMap(({ additions = [] }) => additions),
  };
};

interface Part {
  readonly statements?: readonly Declared[];
  readonly imports?: readonly (readonly [string, Elsewhere])[];
  readonly exports?: readonly (readonly [string, Exported])[];
  readonly stars?: readonly Star[];
  readonly additions?: readonly string[];
}

const partOf = (statement: Statement, path: string, codeOf: (node: Node) => string): Part => {
  const at = (source: { readonly value: string }): string => placeOf(source.value, path);
  switch (statement.type) {
    case "ImportDeclaration": {
      const from = at(statement.source);
      if (statement.specifiers.length === 0) return { additions: [from] };
      return {
        imports: statement.specifiers.map((each) => [
          each.local.name,
          {
            from,
            name:
              each.type === "ImportSpecifier"
                ? nameOf(each.imported)
                : each.type === "ImportDefaultSpecifier"
                  ? "default"
                  : null,
          },
        ]),
      };
    }
    case "ExportAllDeclaration": {
      const from = at(statement.source);
      const isType = statement.exportKind === "type";
      if (statement.exported === null) return { stars: [{ isType, from }] };
      return { exports: [[nameOf(statement.exported), { isType, what: { from, name: null } }]] };
    }
    case "ExportNamedDeclaration": {
      const { declaration, source, specifiers, exportKind } = statement;
      if (declaration !== null) {
        const names = namesOf(declaration);
        return {
          statements: [declaredBy(statement, names, path, codeOf)],
          exports: names.map((name) => [name, { isType: false, what: name }]),
        };
      }
      return {
        exports: specifiers.map((each) => {
          const local = nameOf(each.local);
          const isType = exportKind === "type" || each.exportKind === "type";
          return [nameOf(each.exported), { isType, what: source === null ? local : { from: at(source), name: local } }];
        }),
      };
    }
    case "ExportDefaultDeclaration": {
      return {
        statements: [declaredBy(statement, ["default"], path, codeOf)],
        exports: [["default", { isType: false, what: "default" }]],
      };
    }
    default:
      return { statements: [declaredBy(statement, namesOf(statement), path, codeOf)] };
  }
};

const declaredBy = (
  node: Statement,
  names: readonly string[],
  path: string,
  codeOf: (node: Node) => string,
): Declared => {
  const mentions = new Set<string>();
  const elsewhere: Elsewhere[] = [];
  const look = (each: Node): void => {
    if (each.type === "Identifier" && !isBinding(each)) mentions.add(each.name);
    if (each.type === "TSImportType")
      elsewhere.push({
        from: placeOf(each.source.value, path),
        name: each.qualifier === null ? null : firstOf(each.qualifier),
      });
    for (const child of partsThatMention(each)) look(child);
  };
  look(node);
  const isAddition =
    node.type === "TSModuleDeclaration" && (node.id.type === "Literal" || codeOf(node.id) === "global");
  return { names, code: codeOf(node), mentions: [...mentions], elsewhere, isAddition };
};

/** A parameter, whose name is nobody else's. */
const isBinding = (node: Node): boolean =>
  node.type === "Identifier" && node.typeAnnotation !== null && node.typeAnnotation !== undefined;

/** Its children, but for names of members, of parameters and within namespaces. */
const partsThatMention = (node: Node): readonly Node[] => {
  const passed = new Set(
    node.type === "TSQualifiedName"
      ? ["right"]
      : node.type === "ObjectPattern"
        ? ["properties"]
        : node.type === "TSImportType"
          ? ["qualifier", "source"]
          : "key" in node && !("computed" in node && node.computed)
            ? ["key"]
            : [],
  );
  const keys = (visitorKeys[node.type] ?? []).filter((key) => !passed.has(key));
  // The keys are those of its children, by what the parser says.
  return keys.flatMap((key) => (node as unknown as Record<string, Node | readonly Node[] | null>)[key] ?? []);
};

const namesOf = (node: Node): readonly string[] => {
  if (node.type === "VariableDeclaration")
    return node.declarations.flatMap(({ id }) => (id.type === "Identifier" ? [id.name] : []));
  return "id" in node && node.id !== null && node.id.type === "Identifier" ? [node.id.name] : [];
};

const nameOf = (node: { readonly name: string } | { readonly value: string }): string =>
  "name" in node ? node.name : node.value;

const firstOf = (qualifier: Node): string | null => {
  if (qualifier.type === "Identifier") return qualifier.name;
  return qualifier.type === "TSQualifiedName" ? firstOf(qualifier.left) : null;
};

/** A file of the package by its path, as `thread/turn.d.ts`; of another package by its name. */
const placeOf = (specifier: string, from: string): string =>
  specifier.startsWith(".")
    ? `./${posix.join(posix.dirname(from), specifier).replace(/\.(tsx?|js)$/, ".d.ts")}`
    : specifier;

const withoutEmptyLines = (code: string): string =>
  code
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .join("\n");
