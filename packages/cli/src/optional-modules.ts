import { ArgumentError } from "./exit-code.ts";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { conversationMachine, type ConversationMachine, type MachineOptions } from "@colloquy/machine";
import { reasonOf } from "@colloquy/cli/terminal";

/**
 * Loads a module that needs packages which this one does not install.
 *
 * @param what names the feature, for the error.
 * @throws ArgumentError with the command that installs them, if one is missing
 */
export const loaded = async <Module>(
  what: string,
  packages: readonly string[],
  load: () => Promise<Module>,
): Promise<Module> => {
  try {
    return await load();
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
    const named = packages.map((name) => `"${name}"`).join(" and ");
    throw new ArgumentError(
      `${what} needs ${named}, not installed beside colloquy; install it: npm install --global ${packages.join(" ")}`,
      { cause: thrown },
    );
  }
};

const isMissing = (thrown: unknown): boolean =>
  thrown instanceof Error &&
  "code" in thrown &&
  (thrown.code === "ERR_MODULE_NOT_FOUND" || thrown.code === "MODULE_NOT_FOUND");

/**
 * Makes the machine with the options that a module exports by default; without a module, one with all defaults, which
 * keeps everything.
 *
 * @throws Error for a module that cannot be loaded, or whose default export is not machine options.
 */
export const machineFromModule = async (path: string | undefined): Promise<ConversationMachine> =>
  conversationMachine(await optionsFromModule(path));

/** Returns the machine options; none without a module. @throws Error as above */
export const optionsFromModule = async (path: string | undefined): Promise<MachineOptions> => {
  if (path === undefined) return {};
  const options = await defaultExportOf(path);
  if (!isRecord(options))
    throw new Error(
      `"${path}" has no machine options: its default export is ${kindOf(options)}; make it those, such as { policy }`,
    );
  try {
    conversationMachine(options);
    return options;
  } catch (thrown) {
    throw new Error(`the options of "${path}" can't be used: ${reasonOf(thrown)}`, { cause: thrown });
  }
};

/**
 * Returns the function that a module exports by default. Its author is responsible for its type.
 *
 * @throws Error for a module that cannot be loaded, or that exports no function
 */
export const functionFromModule = async <Of extends (...given: never[]) => unknown>(
  path: string,
  what: string,
): Promise<Of> => {
  const exported = await defaultExportOf(path);
  // Its type cannot be checked; its result is checked by the caller.
  if (typeof exported === "function") return exported as Of;
  throw new Error(`"${path}" has no ${what}: its default export is ${kindOf(exported)}; make it a function`);
};

/** Returns the default export of a module. @throws Error for a module that cannot be loaded */
export const defaultExportOf = async (path: string): Promise<unknown> => {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) throw new Error(`there is no file "${path}"`);
    if (!stats.isFile()) throw new Error(`"${path}" is a pipe or a device, or a folder; name a module in a file`);
    const loaded: unknown = await import(pathToFileURL(resolve(path)).href);
    return isRecord(loaded) ? loaded["default"] : undefined;
  } catch (thrown) {
    throw new Error(`the module "${path}" can't be loaded: ${reasonOf(thrown)}`, { cause: thrown });
  }
};

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const kindOf = (value: unknown): string =>
  value === undefined ? "missing" : value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`;
