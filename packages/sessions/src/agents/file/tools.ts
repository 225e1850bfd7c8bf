import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { declarationsOf, type Tool } from "@colloquy/host";
import { referredFile } from "./references.ts";

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
