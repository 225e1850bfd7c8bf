import { existsSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";

import { librariesOf, unpackDebian } from "./debian-packages.ts";
import { endChild, freePort, type Program, type Server, startProgram } from "./process.ts";

export interface RedisOptions {
  /** A folder that is empty or that an earlier such server left. */
  readonly folder: string;
  /** Further settings, as on the command line. Default: nothing is written to disk. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Default: a free port. */
  readonly port?: number;
}

export const startRedis = async (options: RedisOptions): Promise<Server> => {
  const { folder, settings = { appendonly: "no" }, port = await freePort() } = options;
  const data = join(folder, "data");
  mkdirSync(data, { recursive: true });
  const given = { bind: "127.0.0.1", port: String(port), dir: data, save: "", ...settings };
  const args = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]);
  const child = await startProgram(programIn(join(folder, "packages")), args, /Ready to accept connections/);
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    stop: () => endChild(child, "SIGTERM"),
  };
};

/** Returns the installed program, else the one in Debian's packages. */
const programIn = (packages: string): Program => {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const installed = folders.map((folder) => join(folder, "redis-server")).find((path) => existsSync(path));
  if (installed !== undefined) return { path: installed, libraries: null, user: null };
  const path = join(packages, "usr/bin/redis-server");
  if (!existsSync(path)) unpackDebian(/^(redis-tools|redis-server|lib.*|lua.*)$/, ["redis-server"], packages);
  return { path, libraries: librariesOf(packages), user: null };
};
