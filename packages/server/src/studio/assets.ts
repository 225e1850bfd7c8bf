import { existsSync, readFileSync } from "node:fs";
import type { Assets } from "./routes/options.ts";

/**
 * Returns the script and the style of the page: the packaged ones; in the workspace, they are built from the sources at
 * each start.
 */
export const pageAssets = async (): Promise<Assets> => {
  const folder = new URL("page/", import.meta.url);
  if (existsSync(new URL("page.js", folder)))
    return new Map(names.map((name) => [name, readFileSync(new URL(name, folder), "utf8")]));
  // Not imported by name, because bundles of this package need neither it nor esbuild.
  const builder = new URL("../../../../scripts/build-page.ts", import.meta.url).href;
  // The module is in this repository.
  const { buildPage } = (await import(builder)) as { readonly buildPage: (folder: URL) => Promise<Assets> };
  return buildPage(folder);
};

const names = ["page.js", "page.css"];
