// For `node --import`: the packages are then those in the folder that the address of this module names, as `installed.ts` put
// them there, and not the sources.
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const folder = new URL(import.meta.url).searchParams.get("folder");
if (folder === null) throw new Error("the address of this module names no folder");
const parentURL = pathToFileURL(`${folder}/`).href;

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, specifier.startsWith("@colloquy/") ? { ...context, parentURL } : context),
});
