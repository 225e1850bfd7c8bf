// Writes the documentation as a static site into `site/`: the pages, and the files of the repository that they lead to.
// It needs no network and no script, and it fails when a link or an anchor leads nowhere.
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix } from "node:path";

import { escaped, pageOfFolder, pageOfMarkdown, pageOfSource, type SitePage } from "./site-page.ts";
import { siteLayout } from "./site-layout.ts";

/** What was made. */
export interface Site {
  readonly pages: number;
  /** Links that lead nowhere, and what must not be in a page: the page, and what it names. */
  readonly problems: readonly string[];
}

/** The pages that a reader begins with; what they lead to follows. */
const beginnings = [
  "README.md",
  "docs/*.md",
  "docs/decisions/*.md",
  "packages/*/README.md",
  "vectors/*.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
];

/** Builds the site of a repository in a folder, which is made anew. */
export const buildSite = (root: string, folder: string): Site => {
  rmSync(folder, { recursive: true, force: true });
  const pages = new Map<string, SitePage>();
  const wanted: Wanted[] = [];
  const queue = beginnings.flatMap((pattern) => globSync(pattern, { cwd: root }).toSorted());
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    if (pages.has(path)) continue;
    const from = path;
    const reach = (target: string): string => {
      const [file = "", anchor] = target.split("#").map(decoded);
      const to = file === "" ? from : posix.normalize(posix.join(posix.dirname(from), file)).replace(/\/$/, "");
      const found = fileAt(root, to);
      if (found === null) wanted.push({ from, target, to, anchor: undefined });
      else {
        queue.push(found);
        wanted.push({ from, target, to: found, anchor });
      }
      const place = posix.relative(posix.dirname(placeOf(root, from)), placeOf(root, found ?? to));
      return encoded(place) + (anchor === undefined ? "" : `#${encodeURIComponent(anchor)}`);
    };
    if (isPicture(path)) copy(join(root, path), join(folder, path));
    else pages.set(path, pageOf(root, path, reach));
  }
  const navigation = navigationOf(pages);
  for (const [path, page] of pages) {
    const place = placeOf(root, path);
    const text = siteLayout(page, navigation, (other) =>
      encoded(posix.relative(posix.dirname(place), placeOf(root, other))),
    );
    mkdirSync(dirname(join(folder, place)), { recursive: true });
    writeFileSync(join(folder, place), text);
  }
  const problems = [...pages].flatMap(([path, page]) => page.problems.map((problem) => `${path} ${problem}`));
  return { pages: pages.size, problems: [...problems, ...wanted.flatMap((each) => problemOf(each, root, pages))] };
};

/** As a link names it: `a%20b` is `a b`. */
const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

const encoded = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

/** A link. */
interface Wanted {
  readonly from: string;
  readonly target: string;
  readonly to: string;
  readonly anchor: string | undefined;
}

const problemOf = ({ from, target, to, anchor }: Wanted, root: string, pages: ReadonlyMap<string, SitePage>) => {
  if (fileAt(root, to) === null) return [`${from} links to ${target}, which is not there`];
  if (anchor === undefined || pages.get(to)?.anchors.has(anchor) === true) return [];
  return [`${from} links to ${target}, and ${to} has no such heading`];
};

/** What stands for a path: itself, or the page of a folder. Null where there is nothing. */
const fileAt = (root: string, path: string): string | null => {
  if (path.startsWith("..") || !existsSync(join(root, path))) return null;
  const readme = posix.join(path, "README.md");
  return statSync(join(root, path)).isDirectory() && existsSync(join(root, readme)) ? readme : path;
};

/** Where it is in the site. */
const placeOf = (root: string, path: string): string => {
  if (isPicture(path)) return path;
  if (path.endsWith("README.md")) return posix.join(posix.dirname(path), "index.html");
  if (path.endsWith(".md")) return path.replace(/\.md$/, ".html");
  const isFolder = existsSync(join(root, path)) && statSync(join(root, path)).isDirectory();
  return isFolder ? posix.join(path, "index.html") : `${path}.html`;
};

const isPicture = (path: string): boolean => /\.(png|svg)$/.test(path);

const pageOf = (root: string, path: string, reach: (target: string) => string): SitePage => {
  const place = join(root, path);
  if (!statSync(place).isDirectory()) {
    const text = readFileSync(place, "utf8");
    return path.endsWith(".md") ? pageOfMarkdown(text, reach) : pageOfSource(path, text);
  }
  const names = readdirSync(place).filter((name) => !name.startsWith(".") && name !== "node_modules");
  return pageOfFolder(
    path,
    names.toSorted().map((name) => [name, reach(posix.join(posix.basename(path), name))]),
  );
};

/** The rooms of the site, with their pages in order. */
const navigationOf = (pages: ReadonlyMap<string, SitePage>) => {
  const inRoom = (pattern: RegExp) =>
    [...pages].filter(([path]) => pattern.test(path)).map(([path, { title }]) => ({ path, title: escaped(title) }));
  return [
    { name: "Begin", links: inRoom(/^(README|CONTRIBUTING|SECURITY|CHANGELOG)\.md$/) },
    { name: "Guides", links: inRoom(/^docs\/[^/]+\.md$/) },
    { name: "Packages", links: inRoom(/^packages\/[^/]+\/README\.md$/) },
    { name: "Vectors", links: inRoom(/^vectors\/[^/]+\.md$/) },
    { name: "Decisions", links: inRoom(/^docs\/decisions\/[^/]+\.md$/) },
  ];
};

const copy = (from: string, to: string): void => {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
};

if (import.meta.main) {
  const root = dirname(import.meta.dirname);
  const { pages, problems } = buildSite(root, join(root, "site"));
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
  console.log(`site/index.html and ${pages - 1} other pages are written; ${problems.length} problems`);
}
