// Answers to questions about users and their data, for docs/how-do-i-data.md. A scripted model takes the place of a real one.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { createHost, type Host, memoryStore, sqliteStore } from "@colloquy/runtime-node";
import { postgresStore } from "@colloquy/runtime-node/postgres";
import { ruleModel } from "@colloquy/runtime-test/models";
import { Pool } from "pg";

const folder = mkdtempSync(join(tmpdir(), "colloquy-example-"));
const path = join(folder, "threads.db");
const llm = ruleModel([{ name: "all", when: () => true, answer: ({ messages }) => `answer ${messages.length}` }]);
const store = sqliteStore({ path });
const host = createHost({ llm, store });

{
  // The id says whose thread it is, and so does the metadata, by which threads are listed.
  const startFor = async (user: string, chat: string) => {
    const thread = host.thread(`${user}_${chat}`); // no user's id has a `_`
    await thread.start({ metadata: { user } });
    return thread;
  };
  const thread = await startFor("ada", "1");
  await thread.ask("I am Ada.");
  await (await startFor("ada", "2")).ask("Something else.");
  await (await startFor("grace", "1")).ask("I am Grace.");
}

const threadsOf = async (host: Host, user: string): Promise<string[]> => {
  const ids: string[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const page = await host.threads({ metadata: { user }, ...(after === undefined ? {} : { after }) });
    ids.push(...page.threads.map(({ threadId }) => threadId));
    after = page.next;
  }
  return ids;
};

const deleteUser = async (host: Host, user: string): Promise<void> => {
  for (const threadId of await threadsOf(host, user)) await host.thread(threadId).delete();
};

console.log((await threadsOf(host, "ada")).toSorted());

{
  const hosts = new Map<string, Host>();
  const hostOf = (tenant: string): Host => {
    if (!/^[a-z0-9]+$/.test(tenant)) throw new Error("not a tenant");
    const known = hosts.get(tenant) ?? createHost({ llm, store: sqliteStore({ path: join(folder, `${tenant}.db`) }) });
    hosts.set(tenant, known);
    return known;
  };
  await hostOf("acme").ask("Hello.");
  await hostOf("acme").close();
}

{
  const thread = host.thread("ada_1");
  await thread.ask("My card is 1234.");
  await thread.redact({ turn: 2 }, { reason: "a card number" }); // journal, snapshots, search index
  const { hits } = await host.search("card"); // SQLite, PostgreSQL, IndexedDB
  console.log(hits.length, "hits");
}

{
  const thread = host.thread("grace_1");
  await thread.undo(); // takes the last turn back; `redo()` brings it again
  await thread.ask("I am Grace Hopper."); // the edited question: another branch
  const { thread: copy } = await thread.fork({ threadId: "grace_2" }); // both continue from here
  console.log((await copy.ask("And now?")).text);
}

{
  const journal = await host.thread("ada_1").exportJournal(); // JSON: a file, a bucket, another store
  const elsewhere = createHost({ llm, store: memoryStore() });
  const moved = await elsewhere.importJournal(journal, { threadId: "ada_1" }); // checked, whole or not at all
  console.log((await moved.ask("Do you remember?")).text);
  await elsewhere.close();
}

{
  const backup = join(folder, "backup.db");
  const database = new DatabaseSync(path, { readOnly: true });
  database.prepare("VACUUM INTO ?").run(backup); // while the store is in use
  database.close();

  const restored = createHost({ llm, store: sqliteStore({ path: backup }) });
  console.log((await threadsOf(restored, "ada")).toSorted());
  await restored.close();
}

{
  const pool = new Pool({ connectionString: process.env["DATABASE_URL"], max: 5 }); // of the package `pg`
  const store = postgresStore({ pool, schema: "chats" }); // the first call makes its tables, or updates them
  const host = createHost({ llm, store });
  await host.close();
  await store.close(); // releases its threads; the pool is yours
  await pool.end();
}

await deleteUser(host, "ada");
console.log("left:", (await host.threads()).threads.map(({ threadId }) => threadId).toSorted());
await host.close();
await store.close();
rmSync(folder, { recursive: true });
