import { StorageError } from "@colloquy/host/store";
import type { PostgresClient, PostgresPool } from "./pool.ts";
import { quoted, steps as released } from "./schema.ts";

/**
 * Brings a schema up to the newest version, in one transaction. Two processes may do it at the same moment: the
 * second waits, and finds it done. One that is up to date is not written to, so that it can be read on a standby, and
 * not locked, so that no process waits for one that hangs. A process that is silent for `timeoutMs` while it has the lock
 * loses it: the server need not notice that its network is dead.
 * Throws `StorageError` for a schema that a newer version wrote, and for one that belongs to something else.
 */
export const migrate = async (
  pool: PostgresPool,
  schema: string,
  name: string,
  timeoutMs: number,
  steps: readonly ((schema: string) => string)[] = released,
): Promise<void> => {
  const client = await pool.connect();
  // One that breaks between two statements says so in an event, and again at the next statement.
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
    // With the connection goes its transaction, whatever state it is in.
    client.release(true);
    throw error;
  } finally {
    client.off("error", ignore);
  }
};

/** How many steps the schema has seen, none of them unknown; 0 when it is empty or not there. */
const versionOf = async (client: PostgresClient, schema: string, name: string, stepsKnown: number): Promise<number> => {
  const { rows } = await client.query(
    `SELECT to_regclass($1) IS NOT NULL AS ours, current_setting('server_encoding') AS encoding,
       EXISTS (SELECT FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $2) AS taken`,
    [`${quoted(schema)}.version`, schema],
  );
  // The columns of the statement above, and below of the table that `climb` makes.
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
    // Asked first: without the right to make schemas even IF NOT EXISTS is refused.
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
