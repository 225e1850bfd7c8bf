// Builds the page of the studio: a script and a style, with all that they need within them. The studio calls it in the
// workspace, and `scripts/build.ts` writes what a package ships.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { rolldown } from "rolldown";

/** The files of the page whose sources lie in a folder, by their names. */
export const buildPage = async (folder: URL): Promise<ReadonlyMap<string, string>> => {
  const bundled = await rolldown({ input: fileURLToPath(new URL("page.ts", folder)), platform: "browser" });
  const licence = readFileSync(new URL("../../node_modules/preact/LICENSE", folder), "utf8");
  const { output } = await bundled.generate({ format: "es", minify: true, banner: `/*! Preact\n${licence}*/` });
  await bundled.close();
  return new Map([
    ["page.js", output[0].code],
    ["page.css", readFileSync(new URL("page.css", folder), "utf8")],
  ]);
};
