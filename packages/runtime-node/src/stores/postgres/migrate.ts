import { StorageError } from "@colloquy/host/store";
import type { PostgresClient, PostgresPool } from "./pool.ts";
import { quoted, steps as released } from "./schema.ts";

/**
 * Migrates a schema to the newest version, in one transaction. If two processes do so at once, the second waits and
 * finds it done. An up-to-date schema is not written, so that a standby can be read, and not locked, so that no process
 * waits for one that hangs. A process that is silent for `timeoutMs` while it holds the lock loses it, since the server
 * may not notice a dead network. Throws `StorageError` for a schema that a newer version wrote, and for one that
 * belongs to other software.
 */
export const migrate = async (
  pool: PostgresPool,
  schema: string,
  name: string,
  timeoutMs: number,
  steps: readonly ((schema: string) => string)[] = released,
): Promise<void> => {
  const client = await pool.connect();
  // A connection that breaks between two statements emits an event, and the next statement fails.
  const ignore = (): void => {};
  client.on("error", ignore);
  try {
    if ((await versionOf(client, schema, name, steps.length)) < steps.length) {
      await client.query("BEGIN ISOLATION LEVEL READ COMMITTED");
      await client.query(`SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(timeoutMs)}`);
      await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`colloquy ${schema}`]);
      const version = await versionOf(client, schema, name, steps.length);
      if (version < steps.length) await climb(client, quoted(schema), steps, version);
      await client.query("COMMIT");
    }
    client.release();
  } catch (error) {
    // Closing the connection ends its transaction in any state.
    client.release(true);
    throw error;
  } finally {
    client.off("error", ignore);
  }
};

/** Returns how many steps the schema has; 0 if it is empty or missing. Throws if some are unknown. */
const versionOf = async (client: PostgresClient, schema: string, name: string, stepsKnown: number): Promise<number> => {
  const { rows } = await client.query(
    `SELECT to_regclass($1) IS NOT NULL AS ours, current_setting('server_encoding') AS encoding,
       EXISTS (SELECT FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $2) AS taken`,
    [`${quoted(schema)}.version`, schema],
  );
  // The cast names the columns of the statement above; the one below, those of the table that `climb` creates.
  const [found] = rows as readonly { readonly ours: boolean; readonly encoding: string; readonly taken: boolean }[];
  if (found?.encoding !== "UTF8") {
    throw new StorageError(
      "cannot-open",
      `${name}: the database keeps text as ${found?.encoding ?? "?"}; make one with ENCODING 'UTF8'.`,
    );
  }
  if (found.ours) {
    const { rows } = await client.query(`SELECT steps FROM ${quoted(schema)}.version`);
    const [version] = rows as readonly { readonly steps: number }[];
    if (version !== undefined && version.steps > stepsKnown) throw newer(name, version.steps, stepsKnown);
    if (version !== undefined) return version.steps;
  }
  if (!found.taken) return 0;
  throw new StorageError(
    "not-a-store",
    `${name}: the schema "${schema}" belongs to something else; choose a schema for conversations alone.`,
  );
};

const climb = async (
  client: PostgresClient,
  schema: string,
  steps: readonly ((schema: string) => string)[],
  version: number,
): Promise<void> => {
  if (version === 0) {
    // Check first: without the right to create schemas, even IF NOT EXISTS is refused.
    const { rows } = await client.query("SELECT to_regnamespace($1) IS NULL AS absent", [schema]);
    const [found] = rows as readonly { readonly absent: boolean }[];
    if (found?.absent === true) await client.query(`CREATE SCHEMA ${schema}`);
    await client.query(`CREATE TABLE ${schema}.version (steps integer NOT NULL)`);
    await client.query(`INSERT INTO ${schema}.version VALUES (0)`);
  }
  for (const step of steps.slice(version)) await client.query(step(schema));
  await client.query(`UPDATE ${schema}.version SET steps = $1`, [steps.length]);
};

const newer = (name: string, version: number, known: number): StorageError =>
  new StorageError(
    "newer",
    `${name}: it has schema ${version}, and this version of @colloquy/runtime-node knows up to ${known}; update the package.`,
  );
