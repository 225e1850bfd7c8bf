import { dirname, join } from "node:path";

import { type OutputChunk, rolldown } from "rolldown";

/**
 * Bundles a package, or a module at a path below `packages/`, into one script for a browser, which defines `bundle`.
 * The script includes all dependencies, also those loaded later, and no replacements for Node's modules.
 *
 * @throws Error for any warning of the bundler, such as about a module of Node
 */
export const bundleFor = async (name: string): Promise<OutputChunk> => {
  const path = name.includes("/") ? name : `${name}/src/index.ts`;
  const building = await rolldown({
    input: join(dirname(import.meta.dirname), "packages", path),
    platform: "browser",
    onLog: (level, log) => {
      if (level === "warn") throw new Error(`${name}: ${log.message}`);
    },
  });
  const { output } = await building.generate({
    format: "iife",
    name: "bundle",
    exports: "named",
    codeSplitting: false,
  });
  await building.close();
  return output[0];
};

/** Returns the script of a bundle. */
export const codeFor = async (name: string): Promise<string> => (await bundleFor(name)).code;

/** Names that only Node has, or that a bundle for Node would look for. */
export const namesOfNode = ["process", "Buffer", "require", "__dirname", "__filename", "setImmediate"];
