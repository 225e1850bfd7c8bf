import { posix } from "node:path";

import { isModule, type Rule, type Source } from "./source.ts";
import { type Link, linksOf, type Package, packageAt, packagesOf } from "./workspace.ts";

/** The page that says which packages and rooms may import which. The rules here check the sources against it. */
export const housePage = "docs/house.md";

/** A package's sources import only the packages that its row on the page names. */
export const packagesPointDown: Rule = (sources) => {
  const rows = sectionsOf(sources).get("Packages") ?? [];
  return linksOfPackages(sources).flatMap(({ source, owner, link, other }) =>
    other === undefined || other === owner || rowOf(rows, owner).imports.includes(posix.basename(other.folder))
      ? []
      : [`${at(source, link)}: ${owner.name} must not import ${other.name}: ${housePage} does not let it`],
  );
};

/** Files other than tests import a package by its entry points, never from its folders. */
export const packagesKeepTheirInsides: Rule = (sources) => {
  const packages = packagesOf(sources);
  return sources
    .filter(isModule)
    .filter(({ path }) => !/(?:^|\/)test\/|\.test\.ts$/.test(path))
    .flatMap((source) => {
      const owner = packageAt(packages, source.path);
      return linksOf(source, packages).flatMap((link) => {
        const other = otherOf(link, packages);
        const isPast = link.specifier.startsWith(".") || link.target === undefined;
        return other !== undefined && other !== owner && isPast
          ? [`${at(source, link)}: reaches into ${other.folder}: import an entry point of ${other.name} instead`]
          : [];
      });
    });
};

/** A room imports only the rooms in its row. A package's door, its `src` itself, may import any; no room imports it. */
export const roomsPointDown: Rule = (sources) =>
  houses(sources).flatMap(({ base, rows }) =>
    modulesIn(sources, base).flatMap((source) => {
      const room = roomOf(base, source.path);
      const row = rows.find(({ name }) => name === room);
      if (room === "" || row === undefined) return [];
      return linksOf(source, []).flatMap((link) => {
        if (link.target === undefined || !link.target.startsWith(base)) return [];
        const other = roomOf(base, link.target);
        return other === room || row.imports.includes(other)
          ? []
          : [
              `${at(source, link)}: ${room} must not import ${other === "" ? "the door" : other}: it may import ${row.imports.join(", ") || "no other room"}`,
            ];
      });
    }),
  );

/**
 * Strict servers import only each other. So their refusals are written from the services' documents, not from the
 * dialects of the handlers that they judge.
 */
export const strictServersStandAlone: Rule = (sources) =>
  modulesIn(sources, strictServers).flatMap((source) =>
    linksOf(source, [])
      .filter(({ target }) => target?.startsWith(strictServers) !== true)
      .map((link) => `${at(source, link)}: a strict server must not import ${link.specifier}: it stands alone`),
  );

const strictServers = "packages/runtime-test/src/server/strict/";

/** Each room has a row with a sentence, each row has a room, and the arrows of the rows form no cycle. */
export const roomsAreOnThePage: Rule = (sources) => [
  ...packagesOf(sources)
    .map(({ folder }) => folder)
    .filter((folder) => folder.startsWith("packages/") && !sectionsOf(sources).has(folder))
    .map((folder) => `${housePage}: ${folder} has no section`),
  ...houses(sources).flatMap(({ base, title, rows }) => {
    const rooms = new Set(modulesIn(sources, base).map(({ path }) => roomOf(base, path)));
    const known = rows.map(({ name }) => name);
    return [
      ...[...rooms]
        .filter((room) => room !== "" && !known.includes(room))
        .map((room) => `${title}: "${room}" has no row`),
      ...known.filter((name) => !rooms.has(name)).map((name) => `${title}: there is no room "${name}"`),
      ...rows.filter(({ says }) => !says.endsWith(".")).map(({ name }) => `${title}: "${name}" has no sentence`),
      ...rows.flatMap(({ name, imports }) => [
        ...imports
          .filter((other) => !known.includes(other))
          .map((other) => `${title}: "${name}" imports "${other}", which is no room`),
        ...(reachable(rows, imports).has(name) ? [`${title}: the arrows of "${name}" lead back to it`] : []),
      ]),
    ];
  }),
];

/** A row of a table of the page. */
interface Row {
  readonly name: string;
  readonly says: string;
  readonly imports: readonly string[];
}

/** A part of the tree that the page divides into rooms. */
interface House {
  readonly title: string;
  /** The folder of the sources, with a `/` at its end. */
  readonly base: string;
  readonly rows: readonly Row[];
}

const houses = (sources: readonly Source[]): readonly House[] =>
  [...sectionsOf(sources)]
    .filter(([title]) => title.startsWith("packages/") || title === "proof")
    .map(([title, rows]) => ({ title, rows, base: title.startsWith("packages/") ? `${title}/src/` : `${title}/` }));

/** Returns the rows of each section of the page by its heading. */
const sectionsOf = (sources: readonly Source[]): ReadonlyMap<string, readonly Row[]> => {
  const page = sources.find(({ path }) => path === housePage)?.text ?? "";
  return new Map(
    page
      .split(/^## /m)
      .slice(1)
      .map((section): [string, readonly Row[]] => [section.slice(0, section.indexOf("\n")).trim(), rowsOf(section)]),
  );
};

const rowsOf = (section: string): readonly Row[] =>
  [...section.matchAll(/^\| `([^`]+)` *\|([^|]*)\|([^|]*)\|$/gm)].map(([, name = "", says = "", imports = ""]) => ({
    name,
    says: says.trim(),
    imports: [...imports.matchAll(/`([^`]+)`/g)].map(([, each = ""]) => each),
  }));

const rowOf = (rows: readonly Row[], { folder }: Package): Row =>
  rows.find(({ name }) => name === posix.basename(folder)) ?? { name: folder, says: "", imports: [] };

const reachable = (rows: readonly Row[], from: readonly string[]): ReadonlySet<string> => {
  const reached = new Set<string>();
  const waiting = [...from];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    waiting.push(...(rows.find((row) => row.name === name)?.imports ?? []));
  }
  return reached;
};

const modulesIn = (sources: readonly Source[], base: string): readonly Source[] =>
  sources.filter(isModule).filter(({ path }) => path.startsWith(base));

/** Returns the folder of a file below the base; empty for the base itself. */
const roomOf = (base: string, path: string): string => posix.dirname(path).slice(base.length);

interface PackageLink {
  readonly source: Source;
  readonly owner: Package;
  readonly link: Link;
  readonly other: Package | undefined;
}

const linksOfPackages = (sources: readonly Source[]): readonly PackageLink[] => {
  const packages = packagesOf(sources);
  return sources.filter(isModule).flatMap((source) => {
    const owner = packageAt(packages, source.path);
    if (owner === undefined || !source.path.startsWith(`${owner.folder}/src/`)) return [];
    return linksOf(source, packages).map((link) => ({ source, owner, link, other: otherOf(link, packages) }));
  });
};

const otherOf = ({ specifier, target }: Link, packages: readonly Package[]): Package | undefined =>
  target === undefined
    ? packages.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`))
    : packageAt(packages, target);

const at = ({ path }: Source, { line, specifier }: Link): string => `${path}:${line} (${specifier})`;
