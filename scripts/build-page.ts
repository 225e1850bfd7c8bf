// Builds the studio's page: a script and a style that include all that they need. In the workspace the studio calls it,
// and `scripts/build.ts` writes the files for the package.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { bundleForBrowser } from "../proof/kit/browser-bundle.ts";

/** Builds the page whose sources are in a folder. Returns its files by name. */
export const buildPage = async (folder: URL): Promise<ReadonlyMap<string, string>> => {
  const { resolve } = createRequire(folder);
  const licence = (name: string): string =>
    `/*! ${name}\n${readFileSync(join(dirname(resolve(`${name}/package.json`)), "LICENSE"), "utf8")}*/\n`;
  const code = await bundleForBrowser(new URL("page.ts", folder), {
    minify: true,
    banner: `${licence("preact")}${licence("marked")}`,
  });
  return new Map([
    ["page.js", code],
    ["page.css", readFileSync(new URL("page.css", folder), "utf8")],
  ]);
};
