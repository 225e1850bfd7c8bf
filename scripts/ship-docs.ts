// Runs in a package's folder before packing: copies the docs pages that its README links to, and fixes the links of
// both for a reader who has only the package. `--undo` reverts this after packing.
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, posix } from "node:path";

const root = dirname(import.meta.dirname);
const folder = `packages/${basename(process.cwd())}`;
const kept = "node_modules/.README.md";

const main = (): void => {
  if (dirname(process.cwd()) !== join(root, "packages"))
    throw new Error(`${process.cwd()} is not the folder of a package, whose docs this would replace`);
  rmSync("docs", { recursive: true, force: true });
  if (existsSync(kept)) renameSync(kept, "README.md");
  if (process.argv.includes("--undo")) return;
  const readme = readFileSync("README.md", "utf8");
  const pages = new Set([...readme.matchAll(link)].map(([, , target = ""]) => placeOf(target, folder)).filter(isPage));
  copyFileSync("README.md", kept);
  writeFileSync("README.md", shipped(readme, folder, pages));
  mkdirSync("docs");
  for (const page of pages) writeFileSync(page, shipped(readFileSync(join(root, page), "utf8"), "docs", pages));
};

const link = /\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)/g;

/** A sentence of a page, to its full stop, that is true only for readers of the repository. */
const unpublished = /Not published yet: .*?\.(?: |$)/gm;

const isPage = (place: string): boolean => /^docs\/[^/]+\.md$/.test(place);

/** Returns the target of a link in a folder's file, from the root of the repository. */
const placeOf = (target: string, from: string): string => posix.join(from, target);

/**
 * Returns a text whose links lead to shipped pages; other targets are named in the text. The advice for working without
 * a registry is left out.
 */
export const shipped = (text: string, from: string, pages: ReadonlySet<string>): string =>
  text.replaceAll(unpublished, "").replaceAll(link, (whole, label: string, target: string, anchor = "") => {
    if (/^https?:/.test(target)) return whole;
    const place = placeOf(target, from);
    if (pages.has(place)) return `[${label}](${from === "docs" ? basename(place) : place}${anchor})`;
    return place.startsWith("packages/") ? label : `${label} (\`${place}\` of the repository)`;
  });

if (import.meta.main) main();
