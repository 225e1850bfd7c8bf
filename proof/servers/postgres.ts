import { spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { librariesOf, unpackDebian } from "./debian-packages.ts";
import { endChild, freePort, type Program, runProgram, type Server, startProgram } from "./process.ts";

export interface PostgresOptions {
  /** A folder that is empty or that an earlier such server left, and that the server's user can reach. */
  readonly folder: string;
  /** `fsync: "off"` is faster, and enough while the machine stays on. */
  readonly settings: Readonly<Record<string, string>>;
  /** Default: a free port. */
  readonly port?: number;
}

/** Starts a PostgreSQL that trusts every user of this machine, on a new or an existing cluster. */
export const startPostgres = async (options: PostgresOptions): Promise<Server> => {
  const { folder, settings, port = await freePort() } = options;
  const user = userOfServer();
  const programs = programsIn(join(folder, "packages"));
  const libraries = programs.startsWith(folder) ? librariesOf(join(folder, "packages")) : null;
  const program = (name: string): Program => ({ path: join(programs, name), libraries, user });
  const data = join(folder, "data");
  if (!existsSync(data)) {
    mkdirSync(data, { mode: 0o700 });
    if (user !== null) chownSync(data, user.uid, user.gid);
    const cluster = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
    runProgram(program("initdb"), ["-D", data, ...cluster]);
  }
  const all = {
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: data,
    max_connections: 200,
    log_checkpoints: "off",
    // Libraries that were unpacked but not installed may lack the compiler.
    jit: "off",
    ...settings,
  };
  const args = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const ready = /database system is ready to accept connections/;
  const child = await startProgram(program("postgres"), ["-D", data, ...args], ready);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    pid: child.pid ?? 0,
    // SIGINT closes the connections and ends the server.
    stop: () => endChild(child, "SIGINT"),
  };
};

/** Returns the newest installed version, else the one in Debian's packages. */
const programsIn = (packages: string): string => {
  const installed = newestIn("/usr/lib/postgresql");
  if (installed !== null) return installed;
  const unpacked = join(packages, "usr/lib/postgresql");
  if (!existsSync(unpacked)) unpackDebian(/^(postgresql-\d+|lib(?!llvm|perl).*)$/, ["postgresql"], packages);
  const programs = newestIn(unpacked);
  if (programs === null) throw new Error(`the package of PostgreSQL has no server: ${unpacked}`);
  return programs;
};

const newestIn = (folder: string): string | null => {
  if (!existsSync(folder)) return null;
  const [newest] = readdirSync(folder)
    .filter((version) => existsSync(join(folder, version, "bin/postgres")))
    .sort((one, other) => Number(other) - Number(one));
  return newest === undefined ? null : join(folder, newest, "bin");
};

/** Returns the user to run PostgreSQL and PgBouncer, which refuse to run as root; null for this user. */
export const userOfServer = (): Program["user"] => {
  if (process.getuid?.() !== 0) return null;
  const [uid, gid] = ["-u", "-g"].map((option) => spawnSync("id", [option, "postgres"], { encoding: "utf8" }).stdout);
  return uid !== undefined && gid !== undefined && uid !== ""
    ? { uid: Number(uid), gid: Number(gid) }
    : { uid: nobody, gid: nobody };
};

const nobody = 65534;
