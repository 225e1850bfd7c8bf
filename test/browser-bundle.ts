import { dirname, join } from "node:path";

import { type OutputChunk, rolldown } from "rolldown";

/**
 * A package, or a module by its path behind `packages/`, as one script for a browser that defines `bundle`: dependencies
 * included, what is loaded later too, and nothing put in Node's place.
 *
 * @throws Error for whatever the bundler warns of, as it does of a module of Node
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

/** The script itself. */
export const codeFor = async (name: string): Promise<string> => (await bundleFor(name)).code;

/** Names that only Node has, or that a bundle for it would look for. */
export const namesOfNode = ["process", "Buffer", "require", "__dirname", "__filename", "setImmediate"];
