import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { declarationsOf, type Tool } from "@colloquy/host";
import { referredFile } from "./references.ts";

/** A tool that the file of an agent asks for. */
export interface ToolReference {
  /** As it is written: `./file.ts` or `./file.ts#export`. */
  readonly reference: string;
  /** The module, by its real path. */
  readonly path: string;
  /** The name of the export: `default` if none is written, which also stands for the only tool of the module. */
  readonly export: string;
  /** The file of the agent, by its real path. */
  readonly agent: string;
}

/** Whether the modules of tools may be loaded, which runs their code: all of them, or those for which a function says so. */
export type AllowTools = boolean | ((reference: ToolReference) => boolean);

/** Where a reference to a tool leads, when it may be followed. @throws Error in words where it may not */
export const toolReference = async (
  reference: string,
  agent: string,
  { root, allow }: { readonly root: string; readonly allow: AllowTools },
): Promise<ToolReference> => {
  const [path = "", name = "default", ...rest] = reference.split("#");
  if (rest.length > 0 || name === "") throw new Error("it must be ./file.ts or ./file.ts#export");
  const found = { reference, path: await referredFile(path, agent, { root, extensions }), export: name, agent };
  // Nothing but true allows it: a function in JavaScript may give a promise.
  const allowed: unknown = typeof allow === "function" ? allow(Object.freeze(found)) : allow;
  if (allowed === true) return found;
  throw new Error(
    "it is not allowed: loading it runs its code. If you trust it, allow it by allowTools (on the command line --allow-tools)",
  );
};

const extensions = [".ts", ".mts", ".js", ".mjs"];

/** Loads a tool. @throws Error in words where there is none */
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
    // It is checked for just this.
    declarationsOf([value as Tool]);
    return true;
  } catch {
    return false;
  }
};
