// For `node --import`: loads the packages from the folder in this module's address, where `installed.ts` put them,
// instead of the sources.
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const folder = new URL(import.meta.url).searchParams.get("folder");
if (folder === null) throw new Error("the address of this module names no folder");
const parentURL = pathToFileURL(`${folder}/`).href;

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, specifier.startsWith("@colloquy/") ? { ...context, parentURL } : context),
});
