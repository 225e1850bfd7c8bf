import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { inFolder } from "../../proof/kit/folder.ts";

/**
 * Does work in a folder where the packages are as npm installs them: the files of `scripts/build.ts`, and the published
 * manifests. Their dependencies and optional peers are linked.
 */
export const withInstalled = <Result>(work: (folder: string) => Promise<Result>): Promise<Result> =>
  inFolder("installed", async (folder) => {
    for (const path of globSync("packages/*/package.json", { cwd: root })) install(join(root, path), folder);
    // Bundled in the packages, and compared with them.
    link("fp-ts", join(root, "node_modules/fp-ts"), folder);
    return work(folder);
  });

const root = new URL("../..", import.meta.url).pathname;

const install = (path: string, folder: string): void => {
  const { dependencies, peerDependencies } = copyBuilt(path, folder);
  for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
    const target = join(dirname(path), "node_modules", name);
    if (!name.startsWith("@colloquy/") && existsSync(target)) link(name, target, folder);
  }
};

const link = (name: string, target: string, folder: string): void => {
  const path = join(folder, "node_modules", name);
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  symlinkSync(realpathSync(target), path);
};

/** Copies a package, by the path of its manifest, into a folder's `node_modules` as published. Returns its manifest. */
export const copyBuilt = (path: string, folder: string, withTypes = false): Manifest => {
  // Cast: a manifest of this repository.
  const { publishConfig, ...rest } = JSON.parse(readFileSync(path, "utf8")) as Manifest;
  const place = join(folder, "node_modules", rest.name);
  const built = join(dirname(path), "dist");
  if (!existsSync(built)) throw new Error(`there is no ${built}: run node scripts/build.ts first`);
  const left = withTypes ? /\.map$/ : /\.(d\.ts|map)$/;
  cpSync(built, join(place, "dist"), { recursive: true, filter: (file) => !left.test(file) });
  const manifest = { ...rest, ...publishConfig };
  writeFileSync(join(place, "package.json"), JSON.stringify(manifest));
  return { ...rest, publishConfig };
};

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly publishConfig: object;
}
