import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { librariesOf, unpackDebian } from "./debian-packages.ts";
import { userOfServer } from "./postgres.ts";
import { endChild, freePort, type Program, type Server, startProgram } from "./process.ts";

export interface PgbouncerOptions {
  /** An empty folder, which the server's user can reach. */
  readonly folder: string;
  readonly url: string;
}

/**
 * Starts a PgBouncer that gives each transaction any of a few connections.
 *
 * @throws Error if it is not installed and Debian's package is unavailable
 */
export const startPgbouncer = async ({ folder, url }: PgbouncerOptions): Promise<Server> => {
  const [behind, port] = [new URL(url), await freePort()];
  const settings = join(folder, "pgbouncer.ini");
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
  writeFileSync(
    settings,
    `[databases]
* = host=${behind.hostname} port=${behind.port} user=${behind.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 5
`,
    { mode: 0o644 },
  );
  const child = await startProgram(programIn(join(folder, "packages")), [settings], /process up/);
  const pooled = new URL(url);
  pooled.port = String(port);
  return { url: pooled.href, pid: child.pid ?? 0, stop: () => endChild(child, "SIGTERM") };
};

/** Returns the installed program, else the one in Debian's packages. */
const programIn = (packages: string): Program => {
  const user = userOfServer();
  const installed = "/usr/sbin/pgbouncer";
  if (existsSync(installed)) return { path: installed, libraries: null, user };
  unpackDebian(/^(pgbouncer|lib.*)$/, ["pgbouncer"], packages);
  return { path: join(packages, "usr/sbin/pgbouncer"), libraries: librariesOf(packages), user };
};
