import { posix } from "node:path";

import { type Node, parseSync, type Statement } from "oxc-parser";

import { childrenOf } from "../test/rules/source.ts";

/** An entry point of a package: its import path, and its file of declarations, such as `index.d.ts`. */
export interface EntryPoint {
  readonly path: string;
  readonly file: string;
}

/**
 * Returns the declarations of a package for its importers: the exported names of each entry point, and the declarations
 * in each file that these names lead to. Exports for other files of the package alone are not in it.
 *
 * @param read returns a file of declarations by its path
 */
export const apiReport = (entries: readonly EntryPoint[], read: (path: string) => string): string => {
  const reach = new Reach(read);
  const doors = entries.map(({ path, file }) => {
    const names = [...reach.exportsOf(`./${file}`)].toSorted().map((line) => `  ${line}`);
    return [`${path}:`, ...names].join("\n");
  });
  for (const { file } of entries) reach.all(`./${file}`);
  return `${[...doors, ...reach.texts()].join("\n\n")}\n`;
};

/** The declarations that were reached in a package's files. */
class Reach {
  readonly #read: (path: string) => string;
  readonly #files = new Map<string, Declarations>();
  readonly #reached = new Map<string, Set<Declared>>();
  readonly #used = new Map<string, Set<string>>();
  readonly #whole = new Set<string>();

  constructor(read: (path: string) => string) {
    this.#read = read;
  }

  /** Returns the names that a file exports, each with its origin. */
  exportsOf(path: string): ReadonlySet<string> {
    const { exports, stars } = this.#file(path);
    const own = [...exports].map(([name, { isType, what }]) => {
      const place = typeof what === "string" ? this.#elsewhere(path, what) : what;
      const origin = place === null ? path : `${place.from}${place.name === name ? "" : ` ${place.name ?? "*"}`}`;
      return `${isType ? "type " : ""}${name} of ${origin}`;
    });
    const others = stars.flatMap(({ isType, from }) => {
      const lines = isOwn(from) ? [...this.exportsOf(from)] : [`* of ${from}`];
      return lines.map((line) => (isType && !line.startsWith("type ") ? `type ${line}` : line));
    });
    return new Set([...own, ...others]);
  }

  /** Marks all exports of a file as reached. */
  all(path: string): void {
    if (this.#whole.has(path)) return;
    this.#whole.add(path);
    const { exports, stars } = this.#file(path);
    for (const name of exports.keys()) this.#exported(path, name);
    for (const { from } of stars) if (isOwn(from)) this.all(from);
  }

  /** Returns the reached declarations of each file, in its order. */
  texts(): readonly string[] {
    const files = [...this.#files].toSorted(([one], [other]) => (one < other ? -1 : 1));
    return files.flatMap(([path, { statements, imports }]) => {
      const reached = statements.filter((each) => this.#reached.get(path)?.has(each) === true);
      if (reached.length === 0) return [];
      const used = [...(this.#used.get(path) ?? [])].toSorted().flatMap((local) => {
        const place = imports.get(local);
        return place === undefined
          ? []
          : [`${local} of ${place.from}${place.name === local ? "" : ` ${place.name ?? "*"}`}`];
      });
      return [[`## ${path.slice(2)}`, ...used, ...reached.map(({ code }) => code)].join("\n")];
    });
  }

  #elsewhere(path: string, local: string): Elsewhere | null {
    return this.#file(path).imports.get(local) ?? null;
  }

  #file(path: string): Declarations {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const file = readDeclarations(path.slice(2), this.#read(path.slice(2)));
    this.#files.set(path, file);
    for (const each of file.statements) if (each.isAddition) this.#declared(path, each);
    for (const other of file.additions) if (isOwn(other)) this.#file(other);
    return file;
  }

  #exported(path: string, name: string): boolean {
    const { exports, stars } = this.#file(path);
    const found = exports.get(name);
    if (found === undefined) return stars.some(({ from }) => isOwn(from) && this.#exported(from, name));
    if (typeof found.what === "string") this.#local(path, found.what);
    else this.#other(found.what);
    return true;
  }

  #other({ from, name }: Elsewhere): void {
    if (!isOwn(from)) return;
    if (name === null) this.all(from);
    else this.#exported(from, name);
  }

  #local(path: string, name: string): void {
    const { statements, imports } = this.#file(path);
    const place = imports.get(name);
    if (place !== undefined) this.#other(place);
    // An import and a declaration may share a name, as do a type and a value, and overloads.
    for (const each of statements) if (each.names.includes(name)) this.#declared(path, each);
  }

  #declared(path: string, declared: Declared): void {
    const reached = this.#reached.get(path) ?? new Set();
    this.#reached.set(path, reached);
    if (reached.has(declared)) return;
    reached.add(declared);
    const used = this.#used.get(path) ?? new Set();
    this.#used.set(path, used);
    for (const name of declared.mentions) {
      used.add(name);
      this.#local(path, name);
    }
    for (const place of declared.elsewhere) this.#other(place);
  }
}

const isOwn = (place: string): boolean => place.startsWith("./");

/** A file of declarations by tsc, with the references between its names and to others. */
interface Declarations {
  readonly statements: readonly Declared[];
  /** The names in the file that another file declares. */
  readonly imports: ReadonlyMap<string, Elsewhere>;
  /** The exports of the file, by the name outside. */
  readonly exports: ReadonlyMap<string, Exported>;
  /** Files and packages of which it exports everything. */
  readonly stars: readonly { readonly isType: boolean; readonly from: string }[];
  /** Files that it loads because they extend others. */
  readonly additions: readonly string[];
}

/** A declaration at the top of a file. */
interface Declared {
  readonly names: readonly string[];
  /** The code without comments, which are not part of a type. */
  readonly code: string;
  /** Names of the file that it mentions. */
  readonly mentions: readonly string[];
  /** The types that it mentions by `import("./other.ts").Name`. */
  readonly elsewhere: readonly Elsewhere[];
  /** It adds to a module or to the globals, so it counts without a reference. */
  readonly isAddition: boolean;
}

/** A name in another file or package; null for all of them. */
interface Elsewhere {
  readonly from: string;
  readonly name: string | null;
}

interface Exported {
  readonly isType: boolean;
  /** A name of the file, or one of another. */
  readonly what: string | Elsewhere;
}

const readDeclarations = (path: string, text: string): Declarations => {
  const { program, module, comments, errors } = parseSync(path, text);
  if (errors[0] !== undefined) throw new SyntaxError(`${path}: ${errors[0].message}`);
  const codeOf = ({ start, end }: Node): string => {
    const within = comments.filter((comment) => comment.start >= start && comment.end <= end);
    const code = within.reduceRight(
      (rest, comment) => rest.slice(0, comment.start - start) + rest.slice(comment.end - start),
      text.slice(start, end),
    );
    return code
      .replaceAll(/[ \t]+$/gm, "")
      .replaceAll(/\n+/g, "\n")
      .trim();
  };
  const at = ({ value }: { readonly value: string }): string => placeOf(value, path);
  const declaring = program.body.flatMap((each) =>
    each.type === "ExportNamedDeclaration" && each.declaration !== null ? each.start : [],
  );
  // Every export of a declaration counts as a type here; only a list of names says which ones are.
  const exports = module.staticExports.flatMap(({ start, entries }) =>
    entries.map((entry) => ({ ...entry, isType: entry.isType && !declaring.includes(start) })),
  );
  return {
    statements: program.body.flatMap((statement) => declaredBy(statement, path, codeOf)),
    imports: new Map(
      module.staticImports.flatMap(({ moduleRequest, entries }) =>
        entries.map((entry) => [entry.localName.value, { from: at(moduleRequest), name: nameOf(entry.importName) }]),
      ),
    ),
    exports: new Map(
      exports.flatMap(({ moduleRequest, exportName, importName, localName, isType }) => {
        const name = nameOf(exportName);
        if (name === null) return [];
        const local = nameOf(localName) ?? "";
        return [
          [
            name,
            { isType, what: moduleRequest === null ? local : { from: at(moduleRequest), name: nameOf(importName) } },
          ],
        ];
      }),
    ),
    stars: exports.flatMap(({ moduleRequest, exportName, isType }) =>
      moduleRequest === null || nameOf(exportName) !== null ? [] : { isType, from: at(moduleRequest) },
    ),
    additions: module.staticImports.flatMap(({ moduleRequest, entries }) =>
      entries.length === 0 ? at(moduleRequest) : [],
    ),
  };
};

/** Returns a name of an import or an export; null for all names. */
const nameOf = ({ kind, name }: { readonly kind: string; readonly name: string | null }): string | null =>
  kind === "Default" ? "default" : name;

/** Returns the declaration in a statement, if it has one. */
const declaredBy = (node: Statement, path: string, codeOf: (node: Node) => string): readonly Declared[] => {
  if (node.type === "ImportDeclaration" || node.type === "ExportAllDeclaration") return [];
  if (node.type === "ExportNamedDeclaration" && node.declaration === null) return [];
  const names =
    node.type === "ExportDefaultDeclaration"
      ? ["default"]
      : namesOf("declaration" in node && node.declaration !== null ? node.declaration : node);
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
  return [{ names, code: codeOf(node), mentions: [...mentions], elsewhere, isAddition }];
};

/** Returns whether a node is a parameter, whose name refers to nothing. */
const isBinding = (node: Node): boolean =>
  node.type === "Identifier" && node.typeAnnotation !== null && node.typeAnnotation !== undefined;

/** Returns the children of a node without the names of members and parameters and names within namespaces. */
const partsThatMention = (node: Node): readonly Node[] => {
  const passed: readonly (Node | null)[] =
    node.type === "TSQualifiedName"
      ? [node.right]
      : node.type === "ObjectPattern"
        ? node.properties
        : node.type === "TSImportType"
          ? [node.qualifier, node.source]
          : "key" in node && !("computed" in node && node.computed)
            ? [node.key]
            : [];
  return childrenOf(node).filter((child) => !passed.includes(child));
};

const namesOf = (node: Node): readonly string[] => {
  if (node.type === "VariableDeclaration")
    return node.declarations.flatMap(({ id }) => (id.type === "Identifier" ? [id.name] : []));
  return "id" in node && node.id !== null && node.id.type === "Identifier" ? [node.id.name] : [];
};

const firstOf = (qualifier: Node): string | null => {
  if (qualifier.type === "Identifier") return qualifier.name;
  return qualifier.type === "TSQualifiedName" ? firstOf(qualifier.left) : null;
};

/** Returns the path of a file in the package, such as `thread/turn.d.ts`, or the name of another package. */
const placeOf = (specifier: string, from: string): string =>
  specifier.startsWith(".")
    ? `./${posix.join(posix.dirname(from), specifier).replace(/\.(tsx?|js)$/, ".d.ts")}`
    : specifier;
