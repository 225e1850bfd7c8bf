import { posix } from "node:path";

import { isModule, type Rule, type Source } from "./source.ts";
import { type Link, linksOf, type Package, packageAt, packagesOf } from "./workspace.ts";

/** The rooms of the machine, and those that each may import. `index.ts` stands above them all. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  thread: [],
  prompt: ["thread"],
  conversation: ["thread", "prompt"],
  journal: ["thread", "prompt", "conversation"],
  interchange: ["thread"],
};

/** `machine ← host ← runtime-* ← cli`, and `machine ← tokens ← cli`: a package's sources import only what lies below them. */
export const packagesPointDown: Rule = (sources) =>
  linksOfPackages(sources).flatMap(({ source, owner, link, other }) =>
    other === undefined || other === owner || mayImport(owner, other)
      ? []
      : [`${at(source, link)}: ${owner.name} must not import ${other.name}: dependencies point down`],
  );

/** A package reaches another through its name, never into its folders. */
export const packagesKeepTheirInsides: Rule = (sources) =>
  linksOfPackages(sources).flatMap(({ source, owner, link, other }) =>
    other !== undefined && other !== owner && link.specifier.startsWith(".")
      ? [`${at(source, link)}: reaches into ${other.folder}: import ${other.name} instead`]
      : [],
  );

/** The rooms of the machine import only those below them. */
export const roomsPointDown: Rule = (sources) =>
  sources.filter(isModule).flatMap((source) => {
    const room = roomOf(source.path);
    if (room === undefined) return [];
    const allowed = rooms[room];
    if (allowed === undefined)
      return [`${source.path}: "${room}" is not a room of the machine: ${Object.keys(rooms).join(", ")}`];
    return linksOf(source, []).flatMap((link) => {
      const other = link.target === undefined ? undefined : (roomOf(link.target) ?? outside(link.target));
      return other === undefined || other === room || allowed.includes(other)
        ? []
        : [
            `${at(source, link)}: ${room} must not import ${other}: it may import ${allowed.join(", ") || "no other room"}`,
          ];
    });
  });

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

const mayImport = (owner: Package, other: Package): boolean =>
  height(other) < (standsOnMachine(owner) ? 1 : height(owner));

const height = ({ folder }: Package): number => {
  const name = posix.basename(folder);
  if (name === "machine") return 0;
  if (name === "host") return 1;
  return name.startsWith("runtime-") || standsOnMachine({ folder }) ? 2 : 3;
};

/** Counters are beside the runtimes and not above the host: whoever puts a conversation together hands them in. */
const standsOnMachine = ({ folder }: Pick<Package, "folder">): boolean => posix.basename(folder) === "tokens";

const machineSource = "packages/machine/src/";

/** The room of a path inside the machine; undefined for its `index.ts` and for what is not the machine's. */
const roomOf = (path: string): string | undefined => {
  if (!path.startsWith(machineSource) || path === `${machineSource}index.ts`) return undefined;
  return path.slice(machineSource.length).split("/", 1)[0];
};

const outside = (path: string): string => posix.basename(path);

const at = ({ path }: Source, { line, specifier }: Link): string => `${path}:${line} (${specifier})`;
