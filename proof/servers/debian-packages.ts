import { spawnSync } from "node:child_process";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";

/**
 * Unpacks Debian packages into a folder, with the dependencies that this system lacks. Nothing is installed, and root
 * is not needed. Downloads are cached if possible. Throws an `Error` that says what to do, for example on a system
 * without apt.
 */
export const unpackDebian = (wanted: RegExp, names: readonly string[], folder: string): void => {
  mkdirSync(folder, { recursive: true });
  const downloads = join(cacheFolder() ?? folder, names.join("+"));
  makeOnce(downloads, (fresh) => download(wanted, names, fresh));
  for (const deb of debsOf(downloads)) run("dpkg-deb", ["-x", join(downloads, deb), folder], downloads);
};

/** Returns the folders of an unpacked tree with libraries, for LD_LIBRARY_PATH, or their subfolders of a name. */
export const librariesOf = (folder: string, within = ""): string =>
  ["usr/lib", "lib"]
    .map((path) => join(folder, path))
    .filter((path) => existsSync(path))
    .flatMap((path) => [
      path,
      ...readdirSync(path)
        .filter((name) => name.endsWith("-linux-gnu"))
        .map((name) => join(path, name)),
    ])
    .map((path) => join(path, within))
    .filter((path) => existsSync(path))
    .join(":");

/** Returns the folder that caches downloads; null if it is not writable. */
export const cacheFolder = (): string | null => (mayWrite(cache) ? cache : null);

const cache = join(dirname(dirname(import.meta.dirname)), "node_modules/.cache/servers");

/** Returns the packages of a complete download. */
const debsOf = (folder: string): readonly string[] => readdirSync(folder).filter((name) => name.endsWith(".deb"));

/** Makes a folder, if it is not there: whole and at once, since another process may do the same. */
export const makeOnce = (folder: string, make: (fresh: string) => void): void => {
  if (existsSync(folder)) return;
  mkdirSync(dirname(folder), { recursive: true });
  const fresh = mkdtempSync(`${folder}-`);
  // The next process may run as another user.
  chmodSync(fresh, 0o755);
  try {
    make(fresh);
    if (!existsSync(folder)) renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
};

const mayWrite = (folder: string): boolean => {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

const download = (wanted: RegExp, names: readonly string[], folder: string): void => {
  try {
    run("apt-get", ["download", ...missing(wanted, names, [])], folder);
  } catch {
    // The system's package lists are missing or too old. Private lists need no root.
    const own = ownLists(join(folder, "lists"));
    run("apt-get", [...own, "update"], folder);
    run("apt-get", [...own, "download", ...missing(wanted, names, own)], folder);
  }
};

/** Returns the packages that an installation would add and that match `wanted`. */
const missing = (wanted: RegExp, names: readonly string[], options: readonly string[]): readonly string[] => {
  const plan = run("apt-get", [...options, "install", "--simulate", "--no-install-recommends", ...names], "/");
  const found = [...plan.matchAll(/^Inst (\S+)/gm)].map(([, name = ""]) => name).filter((name) => wanted.test(name));
  if (found.length === 0) throw new Error(`apt-get knows no package to add for ${names.join(", ")}:\n${plan}`);
  return found;
};

const ownLists = (folder: string): readonly string[] => {
  mkdirSync(join(folder, "partial"), { recursive: true });
  mkdirSync(join(folder, "cache/archives/partial"), { recursive: true });
  return ["-o", `Dir::State::lists=${folder}`, "-o", `Dir::Cache=${join(folder, "cache")}`];
};

const run = (command: string, args: readonly string[], cwd: string): string => {
  const env = { ...process.env, LC_ALL: "C" };
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: "utf8" });
  if (status === 0) return stdout;
  const problem = error?.message ?? stderr;
  throw new Error(`${command} ${args.join(" ")}: ${problem}\nInstall redis-server, postgresql and chromium-headless-shell, or name
them in COLLOQUY_REDIS_URL, COLLOQUY_POSTGRES_URL and COLLOQUY_CHROMIUM.`);
};
