// Builds the page of the studio: a script and a style, with all that they need within them. The studio calls it in the
// workspace, and `scripts/build.ts` writes what a package ships.
import { readFileSync } from "node:fs";

import { bundleForBrowser } from "../proof/kit/browser-bundle.ts";

/** The files of the page whose sources lie in a folder, by their names. */
export const buildPage = async (folder: URL): Promise<ReadonlyMap<string, string>> => {
  const licence = readFileSync(new URL("../../node_modules/preact/LICENSE", folder), "utf8");
  const code = await bundleForBrowser(new URL("page.ts", folder), {
    minify: true,
    banner: `/*! Preact\n${licence}*/`,
  });
  return new Map([
    ["page.js", code],
    ["page.css", readFileSync(new URL("page.css", folder), "utf8")],
  ]);
};
