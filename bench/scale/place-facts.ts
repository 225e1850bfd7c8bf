// Reads the disk use of a place, and does the maintenance that its server would do later.
import { readFileSync, statSync } from "node:fs";

import pg from "pg";

import { databaseIn, type ServerPlace, type StorePlace } from "../../proof/kit/places.ts";
import { removeFolder } from "../../proof/kit/folder.ts";

export const bytesIn = async (place: StorePlace): Promise<number> => {
  if ("folder" in place) return ["", "-wal"].reduce((bytes, end) => bytes + sizeOf(`${databaseIn(place)}${end}`), 0);
  const [row] = await rowsOf(
    place.url,
    `SELECT sum(pg_total_relation_size(c.oid))::float8 AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
     WHERE nspname = '${place.space}' AND relkind = 'r'`,
  );
  return Number(row?.["bytes"]);
};

/** Does at once the work of PostgreSQL's autovacuum: statistics, and the pending lists of GIN indexes. */
export const settle = async (place: StorePlace): Promise<void> => {
  if ("folder" in place) return;
  for (const table of ["threads", "entries", "words", "leases", "letters"])
    await rowsOf(place.url, `VACUUM ANALYZE "${place.space}".${table}`);
};

/** Removes a place of any size at once. */
export const dropPlace = async (place: StorePlace): Promise<void> => {
  if ("folder" in place) return removeFolder(place.folder);
  await rowsOf(place.url, `DROP SCHEMA IF EXISTS "${place.space}" CASCADE`);
};

export const rowsOf = async (url: string, text: string): Promise<readonly Readonly<Record<string, unknown>>[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text);
    return rows;
  } finally {
    await client.end();
  }
};

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

export interface ServerWork {
  /** The CPU of all its running processes; NaN if the server is on another machine, or this is not Linux. */
  readonly micros: number;
  readonly commits: number;
  readonly logged: number;
}

export const workOf = async ({ url }: ServerPlace): Promise<ServerWork> => {
  const [facts] = await rowsOf(
    url,
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS logged,
       (SELECT xact_commit::float8 FROM pg_stat_database WHERE datname = current_database()) AS commits,
       (SELECT array_agg(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()) AS pids`,
  );
  const pids = Array.isArray(facts?.["pids"]) ? facts["pids"].map(Number) : [];
  return {
    micros: pids.reduce((micros, pid) => micros + microsOf(pid), 0),
    commits: Number(facts?.["commits"]),
    logged: Number(facts?.["logged"]),
  };
};

/** Returns the CPU of another process. Linux lists it in hundredths of a second, after the name in parentheses. */
export const microsOf = (pid: number): number => {
  try {
    const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ").slice(11, 13) ?? [];
    return (Number(user) + Number(system)) * 10_000;
  } catch {
    return Number.NaN;
  }
};
