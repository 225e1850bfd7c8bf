import { basename, dirname, extname, isAbsolute, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { declarationsOf, type Tool } from "@colloquy/host";
import { realpath } from "node:fs/promises";

/** A tool that an agent's file refers to. */
export interface ToolReference {
  /** The reference in the file: `./file.ts` or `./file.ts#export`. */
  readonly reference: string;
  /** The real path of the module. */
  readonly path: string;
  /** The name of the export: `default` if none is written, which also means the only tool of the module. */
  readonly export: string;
  /** The real path of the agent's file. */
  readonly agent: string;
}

/** Whether tool modules may be loaded, which runs their code: all, or those for which a function returns true. */
export type AllowTools = boolean | ((reference: ToolReference) => boolean);

/** Resolves a reference to a tool, if it is allowed. @throws Error with a description if it is not */
export const toolReference = async (
  reference: string,
  agent: string,
  { root, allow }: { readonly root: string; readonly allow: AllowTools },
): Promise<ToolReference> => {
  const [path = "", name = "default", ...rest] = reference.split("#");
  if (rest.length > 0 || name === "") throw new Error("it must be ./file.ts or ./file.ts#export");
  const found = { reference, path: await referredFile(path, agent, { root, extensions }), export: name, agent };
  // Only `true` allows it: a function in JavaScript may return a promise.
  const allowed: unknown = typeof allow === "function" ? allow(Object.freeze(found)) : allow;
  if (allowed === true) return found;
  throw new Error(
    "it is not allowed: loading it runs its code. If you trust it, allow it by allowTools (on the command line --allow-tools)",
  );
};

const extensions = [".ts", ".mts", ".js", ".mjs"];

/** Loads a tool. @throws Error with a description if there is none */
export const loadTool = async ({ path, reference, export: name }: ToolReference): Promise<Tool> => {
  const loaded: unknown = await import(pathToFileURL(path).href).catch((thrown: unknown) => {
    throw new Error(`its module can't be loaded: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  });
  // A module is an object of its exports.
  const exports = loaded as Readonly<Record<string, unknown>>;
  const value = Object.hasOwn(exports, name) ? exports[name] : undefined;
  if (isTool(value)) return value;
  const tools = Object.entries(exports).filter((entry): entry is [string, Tool] => isTool(entry[1]));
  const [only, ...others] = tools;
  if (value === undefined && only !== undefined && others.length === 0 && !reference.includes("#")) return only[1];
  const names = tools.map(([each]) => each).toSorted();
  const there =
    names.length === 0
      ? "it exports no tool, which tool({ name, … }) makes"
      : `its tools are ${names.join(", ")}; name one, as in ${basename(path)}#${names[0]}`;
  throw new Error(`its export "${name}" is ${value === undefined ? "missing" : "not a tool"}; ${there}`);
};

const isTool = (value: unknown): value is Tool => {
  try {
    // The call checks whether it is a tool.
    declarationsOf([value as Tool]);
    return true;
  } catch {
    return false;
  }
};

/**
 * Matches a path that an agent's file may not name: absolute, with a scheme or a drive, or with an encoded slash or a
 * backslash.
 */
const isForeign = /^(?:\/|[a-z][a-z\d+.-]*:|$)|[\\\0]|%2f|%5c/i;

/**
 * Returns the real path of a reference in an agent's file: relative to that file, and inside a folder after following
 * links.
 *
 * @param extensions with the dot.
 * @throws Error with a description for any other path.
 */
export const referredFile = async (
  reference: string,
  from: string,
  { root, extensions }: { readonly root: string; readonly extensions: readonly string[] },
): Promise<string> => {
  const example = `./${basename(reference).replace(/\W.*/, "") || "file"}${extensions[0] ?? ""}`;
  if (isForeign.test(reference))
    throw new Error(`it must be a path relative to the agent's file, with plain slashes, such as ${example}`);
  const real = await realpath(resolve(dirname(from), reference)).catch(() => null);
  if (real === null) throw new Error("there is no such file");
  const inside = relative(root, real);
  if (inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside))
    throw new Error(`it lies outside of ${root}; move it there, or give a folder around both as the option root`);
  if (!extensions.includes(extname(real)))
    throw new Error(`it ends in "${extname(real)}"; it must be one of ${extensions.join(", ")}`);
  return real;
};
