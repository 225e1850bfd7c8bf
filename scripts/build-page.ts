// Builds the page of the studio: a script and a style, with all that they need within them. The studio calls it in the
// workspace, and `scripts/build.ts` writes what a package ships.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { bundleForBrowser } from "../proof/kit/browser-bundle.ts";

/** The files of the page whose sources lie in a folder, by their names. */
export const buildPage = async (folder: URL): Promise<ReadonlyMap<string, string>> => {
  const { resolve } = createRequire(folder);
  const licence = readFileSync(join(dirname(resolve("preact/package.json")), "LICENSE"), "utf8");
  const code = await bundleForBrowser(new URL("page.ts", folder), {
    minify: true,
    banner: `/*! Preact\n${licence}*/`,
  });
  return new Map([
    ["page.js", code],
    ["page.css", readFileSync(new URL("page.css", folder), "utf8")],
  ]);
};
