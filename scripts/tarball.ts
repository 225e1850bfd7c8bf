import { spawnSync } from "node:child_process";
import { readFileSync, globSync, mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

export interface TarballSize {
  readonly packed: number;
  readonly unpacked: number;
}

/** A file by its path, and its bytes. */
export interface FileSize {
  readonly path: string;
  readonly bytes: number;
}

/** Packs every package into a new folder. Returns the tarballs, sorted by name. */
export const packAll = (root: string, folder: string): readonly string[] => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const args = ["-y", "pnpm@12.21.0", "-r", "--filter", "./packages/*", "pack", "--pack-destination", folder];
  const { status, stdout, stderr, error } = spawnSync("npx", args, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`npx ${args.join(" ")} failed: ${error?.message ?? status}\n${stdout}\n${stderr}`);
  return globSync(join(folder, "*.tgz")).toSorted();
};

export const sizeOfTarball = (path: string): TarballSize => ({
  packed: statSync(path).size,
  unpacked: filesInTarball(path).reduce((sum, { bytes }) => sum + bytes, 0),
});

export const filesInTarball = (path: string): readonly FileSize[] => {
  const archive = gunzipSync(readFileSync(path));
  const textAt = (at: number, length: number): string =>
    archive.toString("latin1", at, at + length).replace(/\0.*/s, "");
  const files: FileSize[] = [];
  for (let at = 0; archive[at] !== 0 && at < archive.length;) {
    // Each file has a header with its size in octal digits, and fills its last block.
    const bytes = Number.parseInt(textAt(at + sizeAt, 12), 8);
    files.push({ path: textAt(at, nameMax), bytes });
    at += block + Math.ceil(bytes / block) * block;
  }
  return files;
};

/** Formats a size as npm does. */
export const kilobytes = (bytes: number): string => `${Math.round(bytes / 1000)} kB`;

const block = 512;
const nameMax = 100;
const sizeAt = 124;
