// Keeps threads in PostgreSQL: with a pool, with a migration before a deployment, and cleaned at night. docs/postgres.md
// shows it.
import { StorageError } from "@colloquy/host/store";
import { createHost } from "@colloquy/runtime-node";
import { postgresStore } from "@colloquy/runtime-node/postgres";
import { ruleModel } from "@colloquy/runtime-test/models";
import { Pool } from "pg";

const llm = ruleModel([{ name: "all", when: () => true, answer: () => "A line." }]);
const connectionString = process.env["COLLOQUY_POSTGRES_URL"] ?? "";
const schema = `example_${process.pid}`;

// Before the deployment, as a user who may create the schema.
{
  await using store = postgresStore({ connectionString, schema });
  await store.list({ limit: 1 }); // the first call creates or migrates the tables
}

// In each server.
const pool = new Pool({ connectionString, max: 20, application_name: "support" });
const store = postgresStore({ pool, schema });
const host = createHost({ llm, store });
host.start(); // also continues the threads of servers that died
console.log((await host.ask("What is a queue?", { threadId: "ada" })).text);

try {
  await store.list({ limit: 1 });
} catch (error) {
  if (error instanceof StorageError && error.kind === "unreachable") console.log("PostgreSQL is down");
  else throw error;
}

// At night.
await host.thread("ada").delete();
await store.vacuum();

await host.close();
await store.close(); // your pool stays open
await pool.query(`DROP SCHEMA ${schema} CASCADE`);
await pool.end();
