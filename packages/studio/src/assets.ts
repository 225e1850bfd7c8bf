import { existsSync, readFileSync } from "node:fs";
import type { Assets } from "./routes/options.ts";

/** The script and the style of the page: as the package brings them; in the workspace, built from the sources at each start. */
export const pageAssets = async (): Promise<Assets> => {
  const folder = new URL("page/", import.meta.url);
  if (existsSync(new URL("page.js", folder)))
    return new Map(names.map((name) => [name, readFileSync(new URL(name, folder), "utf8")]));
  // Not by its name: what bundles this package has no need of it, nor of esbuild.
  const builder = new URL("../../../scripts/build-page.ts", import.meta.url).href;
  // It stands in this repository.
  const { buildPage } = (await import(builder)) as { readonly buildPage: (folder: URL) => Promise<Assets> };
  return buildPage(folder);
};

const names = ["page.js", "page.css"];
