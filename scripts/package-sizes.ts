import { existsSync, globSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { manifestIn } from "./manifest.ts";
import { type FileSize, filesInTarball, sizeOfTarball } from "./tarball.ts";

/** A package, and what its installation adds. Sizes are in bytes. */
export interface PackageSize {
  readonly name: string;
  readonly description: string;
  readonly packed: number;
  readonly unpacked: number;
  /** The other packages of the repository that it needs, also indirectly. */
  readonly own: readonly string[];
  /** The foreign packages that it needs, also indirectly, and the total size of their files. */
  readonly foreign: readonly string[];
  readonly foreignSize: number;
  /** The optional packages that it works with. */
  readonly optional: readonly string[];
}

/** Measures the packages of a repository by their tarballs. Their dependencies must be installed. */
export const packageSizes = (root: string, tarballs: readonly string[]): readonly PackageSize[] => {
  // Dependencies are found at their real paths.
  const realRoot = realpathSync(root);
  return globSync("packages/*", { cwd: realRoot })
    .toSorted()
    .map((path) => {
      const folder = join(realRoot, path);
      const { name, description, peerDependencies, peerDependenciesMeta } = manifestIn(folder);
      const installed = [...installedFor(folder)].filter((each) => each !== folder);
      const own = installed.filter((each) => dirname(each) === join(realRoot, "packages"));
      const foreign = installed.filter((each) => !own.includes(each));
      return {
        name,
        description,
        ...sizeOfTarball(packedAs(folder, tarballs)),
        own: namesOf(own),
        foreign: namesOf(foreign),
        foreignSize: sumOf(foreign.flatMap(filesInFolder).map(({ bytes }) => bytes)),
        optional: Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional === true),
      };
    });
};

/** An installed package, and the bytes that its files take on a disk. */
export interface InstalledSize {
  readonly name: string;
  readonly description: string;
  readonly code: number;
  readonly types: number;
  /** Maps, and the sources that they lead to. */
  readonly maps: number;
  readonly others: number;
}

/** Returns what npm installs for a package of the repository and for zod, which its first example needs. */
export const installedSizes = (root: string, tarballs: readonly string[], of: string): readonly InstalledSize[] => {
  const own = join(realpathSync(root), "packages");
  const folder = join(own, of);
  return [...new Set([...installedFor(folder), ...installedFor(folderOf("zod", folder))])].map((each) => {
    const { name, description } = manifestIn(each);
    const files = dirname(each) === own ? filesInTarball(packedAs(each, tarballs)) : filesInFolder(each);
    const onDisk = (kind: FileKind): number =>
      sumOf(files.filter(({ path }) => kindOf(path) === kind).map(({ bytes }) => Math.ceil(bytes / block) * block));
    return {
      name,
      description,
      code: onDisk("code"),
      types: onDisk("types"),
      maps: onDisk("maps"),
      others: onDisk("others"),
    };
  });
};

/** The block size of most disks. Each file takes whole blocks. */
const block = 4096;

type FileKind = "code" | "types" | "maps" | "others";

const kindOf = (path: string): FileKind => {
  if (/\.[cm]?js$/.test(path)) return "code";
  if (/\.d\.[cm]?ts$/.test(path)) return "types";
  return /\.(map|[cm]?tsx?)$/.test(path) ? "maps" : "others";
};

const packedAs = (folder: string, tarballs: readonly string[]): string => {
  const { name, version } = manifestIn(folder);
  const file = `${name.slice(1).replace("/", "-")}-${version}.tgz`;
  const tarball = tarballs.find((each) => basename(each) === file);
  if (tarball === undefined) throw new Error(`${file} is not there: all packages are packed before they are measured`);
  return tarball;
};

/** Returns the folders that npm installs for a package: its own, its dependencies' and its required peers'. */
const installedFor = (folder: string, found: Set<string> = new Set()): ReadonlySet<string> => {
  if (found.has(folder)) return found;
  found.add(folder);
  const { dependencies, peerDependencies, peerDependenciesMeta } = manifestIn(folder);
  const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true);
  for (const name of [...Object.keys(dependencies), ...peers]) installedFor(folderOf(name, folder), found);
  return found;
};

/** Returns the folder in which Node finds a package, from a folder up. */
const folderOf = (name: string, from: string): string => {
  const place = join(from, "node_modules", name);
  if (existsSync(place)) return realpathSync(place);
  if (dirname(from) === from) throw new Error(`${name} is not installed: \`pnpm install\``);
  return folderOf(name, dirname(from));
};

const namesOf = (folders: readonly string[]): readonly string[] =>
  [...new Set(folders.map((folder) => manifestIn(folder).name))].toSorted();

const filesInFolder = (folder: string): readonly FileSize[] =>
  globSync("**/*", { cwd: folder, exclude: ["node_modules/**"] }).flatMap((path) => {
    const file = statSync(join(folder, path));
    return file.isFile() ? [{ path, bytes: file.size }] : [];
  });

const sumOf = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0);
