// Writes the documentation as a static site into `site/`: the pages, and the files of the repository that they lead to.
// It needs no network, and a script only to search. It fails when a link or an anchor leads nowhere.
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, matchesGlob, posix } from "node:path";

import { git } from "./release-facts.ts";
import { escaped, pageOfFolder, pageOfMarkdown, pageOfSource, type SitePage } from "./site-page.ts";
import { siteLayout } from "./site-layout.ts";
import { searchScript, type Section, sectionsOf, sectionsScript } from "./site-search.ts";

export interface Site {
  readonly pages: number;
  /** Dead links and forbidden contents, each with its page. */
  readonly problems: readonly string[];
}

/** The pages that a reader begins with. The site has all pages that they lead to. */
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

/** Builds the site of a repository in a folder, which it removes first. */
export const buildSite = (root: string, folder: string): Site => {
  rmSync(folder, { recursive: true, force: true });
  const tree = treeOf(root);
  const pages = new Map<string, SitePage>();
  const written = new Map<string, string>();
  const problems: string[] = [];
  const wanted: Wanted[] = [];
  const queue = beginnings.flatMap((pattern) => [...tree.files].filter((path) => matchesGlob(path, pattern)));
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    if (pages.has(path)) continue;
    const from = path;
    const reach = (target: string): string => {
      const [file = "", anchor] = target.split("#").map(decoded);
      const to = file === "" ? from : posix.normalize(posix.join(posix.dirname(from), file)).replace(/\/$/, "");
      const found = fileAt(tree, to);
      if (found === null) wanted.push({ from, target, to, anchor: undefined });
      else {
        queue.push(found);
        wanted.push({ from, target, to: found, anchor });
      }
      const place = posix.relative(posix.dirname(placeOf(tree, from)), placeOf(tree, found ?? to));
      return encoded(place) + (anchor === undefined ? "" : `#${encodeURIComponent(anchor)}`);
    };
    if (isPicture(path)) problems.push(...copyPicture(root, path, folder));
    else pages.set(path, pageOf(root, tree, path, reach));
  }
  const navigation = navigationOf(pages);
  const sections: Section[] = [];
  for (const [path, page] of pages) {
    const place = placeOf(tree, path);
    const other = written.get(place);
    if (other !== undefined) problems.push(`${path} is ${place} in the site, as ${other} is: rename one of them`);
    written.set(place, path);
    if (path.endsWith(".md")) sections.push(...sectionsOf(encoded(place), page));
    const root = encoded(posix.relative(posix.dirname(place), ""));
    const text = siteLayout({ page, path, root: root === "" ? "" : `${root}/` }, navigation, (other) =>
      encoded(posix.relative(posix.dirname(place), placeOf(tree, other))),
    );
    mkdirSync(dirname(join(folder, place)), { recursive: true });
    writeFileSync(join(folder, place), text);
  }
  writeFileSync(join(folder, "search.js"), searchScript());
  writeFileSync(join(folder, "search-sections.js"), sectionsScript(sections));
  problems.push(...[...pages].flatMap(([path, page]) => page.problems.map((problem) => `${path} ${problem}`)));
  return { pages: pages.size, problems: [...problems, ...wanted.flatMap((each) => problemOf(each, tree, pages))] };
};

/**
 * The files that may be published: those that git tracks, none of them behind a symbolic link, and the names in each
 * folder.
 */
interface Tree {
  readonly files: ReadonlySet<string>;
  readonly folders: ReadonlyMap<string, ReadonlySet<string>>;
}

const treeOf = (root: string): Tree => {
  const realRoot = realpathSync(root);
  const isOwn = (path: string): boolean => {
    const place = join(realRoot, path);
    return existsSync(place) && realpathSync(place) === place && statSync(place).isFile();
  };
  const files = new Set(git(root, "ls-files", "-z").split("\0").filter(Boolean).filter(isOwn).toSorted());
  const folders = new Map<string, Set<string>>();
  for (const file of files)
    for (let path = file; path !== "."; path = posix.dirname(path)) {
      const folder = posix.dirname(path);
      folders.set(folder, (folders.get(folder) ?? new Set()).add(posix.basename(path)));
    }
  return { files, folders };
};

/** Decodes a part of a link: `a%20b` is `a b`. */
const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

const encoded = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

interface Wanted {
  readonly from: string;
  readonly target: string;
  readonly to: string;
  readonly anchor: string | undefined;
}

const problemOf = ({ from, target, to, anchor }: Wanted, tree: Tree, pages: ReadonlyMap<string, SitePage>) => {
  if (fileAt(tree, to) === null) return [`${from} links to ${target}, which is not there, or not added to git`];
  if (anchor === undefined || pages.get(to)?.anchors.has(anchor) === true) return [];
  return [`${from} links to ${target}, and ${to} has no such heading`];
};

/** Returns the file for a path: itself, or the page of a folder. Null if there is nothing. */
const fileAt = ({ files, folders }: Tree, path: string): string | null => {
  if (files.has(path)) return path;
  const names = folders.get(path);
  if (names === undefined) return null;
  return names.has("README.md") ? posix.join(path, "README.md") : path;
};

const placeOf = ({ folders }: Tree, path: string): string => {
  if (isPicture(path)) return path;
  if (posix.basename(path) === "README.md") return posix.join(posix.dirname(path), "index.html");
  if (path.endsWith(".md")) return path.replace(/\.md$/, ".html");
  return folders.has(path) ? posix.join(path, "index.html") : `${path}.html`;
};

const isPicture = (path: string): boolean => /\.(png|svg)$/.test(path);

const pageOf = (root: string, { folders }: Tree, path: string, reach: (target: string) => string): SitePage => {
  const names = folders.get(path);
  if (names === undefined) {
    const text = readFileSync(join(root, path), "utf8");
    if (!path.endsWith(".md")) return pageOfSource(path, text);
    try {
      return pageOfMarkdown(text, reach);
    } catch (error) {
      throw new Error(`${path} cannot be made a page: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }
  return pageOfFolder(
    path,
    [...names]
      .filter((name) => !name.startsWith("."))
      .toSorted()
      .map((name) => [name, reach(posix.join(posix.basename(path), name))]),
  );
};

/** Returns the sections of the site, with their pages in order. */
const navigationOf = (pages: ReadonlyMap<string, SitePage>) => {
  const inRoom = (...patterns: readonly RegExp[]) =>
    patterns.flatMap((pattern) =>
      [...pages].filter(([path]) => pattern.test(path)).map(([path, { title }]) => ({ path, title: escaped(title) })),
    );
  const [first, ...others] = [/^README\.md$/, "what-it-is-for", "how-do-i", "troubleshooting", "README"] as const;
  return [
    { name: "Begin", links: inRoom(first, ...others.map((name) => new RegExp(`^docs/${name}\\.md$`))) },
    { name: "Answers", links: inRoom(/^docs\/how-do-i-[^/]+\.md$/) },
    { name: "Guides", links: inRoom(/^docs\/(?!how-do-i|what-it-is-for|troubleshooting|README)[^/]+\.md$/) },
    { name: "Packages", links: inRoom(/^packages\/[^/]+\/README\.md$/) },
    { name: "Vectors", links: inRoom(/^vectors\/[^/]+\.md$/) },
    { name: "Decisions", links: inRoom(/^docs\/decisions\/[^/]+\.md$/) },
    { name: "Project", links: inRoom(/^(CHANGELOG|CONTRIBUTING|SECURITY)\.md$/) },
  ];
};

/** Copies a picture, unless it would run a script when opened by itself. */
const copyPicture = (root: string, path: string, folder: string): readonly string[] => {
  const bytes = readFileSync(join(root, path));
  if (path.endsWith(".svg") && scriptInSvg.test(bytes.toString()))
    return [`${path} has script: a picture shows, and runs nothing`];
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), bytes);
  return [];
};

/** Matches elements and attributes that run scripts, and entities and embedded HTML, which could hide them. */
const scriptInSvg = /<(?:[\w.-]+:)?(?:script|foreignObject|iframe)\b|<!ENTITY|[\s"'/]on\w+\s*=|script:|&#/i;

if (import.meta.main) {
  const root = dirname(import.meta.dirname);
  const { pages, problems } = buildSite(root, join(root, "site"));
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
  console.log(`site/index.html and ${pages - 1} other pages are written; ${problems.length} problems`);
}
