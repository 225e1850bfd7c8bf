import { randomUUID } from "node:crypto";

import pg from "pg";
import { afterAll, describe } from "vitest";

/** An empty database for the tests of one file, on the server of COLLOQUY_POSTGRES_URL. */
export interface PostgresServer {
  /** The address of the database, which is dropped after the tests. */
  readonly url: () => Promise<string>;
  /** Returns a schema name that no other test has. */
  readonly schema: () => string;
  /** Returns the rows of a statement. */
  readonly rows: (text: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** Declares tests that need a PostgreSQL. Without one they are skipped, and their name says why. */
export const withPostgres = (name: string, tests: (server: PostgresServer) => void): void => {
  const server = process.env["COLLOQUY_POSTGRES_URL"] ?? "";
  // The report shows the reason.
  const leftOut =
    server === "" ? " (left out: COLLOQUY_POSTGRES_URL names no server; `pnpm servers pnpm test` starts one)" : "";
  describe.skipIf(server === "")(`${name}${leftOut}`, () => {
    const database = `colloquy_${randomUUID().replaceAll("-", "")}`;
    let made: Promise<string> | null = null;
    const make = async (): Promise<string> => {
      await query(server, `CREATE DATABASE ${database} ENCODING 'UTF8' TEMPLATE template0`);
      const url = new URL(server);
      url.pathname = database;
      return url.href;
    };
    const url = (): Promise<string> => (made ??= make());
    // Declared before the tests' own hooks, which then run first.
    afterAll(async () => {
      if (made !== null) await query(server, `DROP DATABASE ${database} WITH (FORCE)`);
    }, 60_000);
    let schemas = 0;
    tests({ url, schema: () => `test_${(schemas += 1)}`, rows: async (text) => query(await url(), text) });
  });
};

const query = async (url: string, text: string): ReturnType<PostgresServer["rows"]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text);
    return rows;
  } finally {
    await client.end();
  }
};
