import { type Declarations, type Declared, type Elsewhere, readDeclarations } from "./declarations.ts";

/** An entry point of a package: what it is imported by, and the file of declarations, as `index.d.ts`. */
export interface EntryPoint {
  readonly path: string;
  readonly file: string;
}

/**
 * Returns the declarations of a package for its importers: the exported names of each entry point, and the declarations
 * in each file that these names lead to. Exports for other files of the package alone are not in it.
 *
 * @param read gives a file of declarations, by its path
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

  /** The names that a file exports, each with where it comes from. */
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

  /** Reaches all that a file exports. */
  all(path: string): void {
    if (this.#whole.has(path)) return;
    this.#whole.add(path);
    const { exports, stars } = this.#file(path);
    for (const name of exports.keys()) this.#exported(path, name);
    for (const { from } of stars) if (isOwn(from)) this.all(from);
  }

  /** Of each file what was reached, in the order of the file. */
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
