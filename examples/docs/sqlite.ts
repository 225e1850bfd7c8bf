// Keeps threads in a SQLite file, backs it up and restores it, and keeps others as files: docs/sqlite.md shows it.
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createHost, filesStore, sqliteStore } from "@colloquy/runtime-node";
import { ruleModel } from "@colloquy/runtime-test/models";

const llm = ruleModel([{ name: "all", when: () => true, answer: () => "A line." }]);
const place = mkdtempSync(join(tmpdir(), "colloquy-example-"));
const path = join(place, "threads.db");
const backup = join(place, "backup.db");

{
  await using store = sqliteStore({ path }); // "threads.db"
  await using host = createHost({ llm, store });
  await host.ask("What is a queue?", { threadId: "ada" });

  // Safe while processes use the store.
  const database = new DatabaseSync(path);
  database.prepare("VACUUM INTO ?").run(backup);
  console.log(database.prepare("SELECT count(*) AS entries FROM journal WHERE thread = ?").get("ada")?.["entries"]);
  database.close();

  await host.thread("ada").delete();
}

// First stop all processes. An old log would corrupt the backup, so remove it too.
for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
copyFileSync(backup, path);
{
  await using store = sqliteStore({ path, erasing: "on-close" }); // a large file
  await using host = createHost({ llm, store });
  console.log((await host.thread("ada").figures())?.turns.total);
}

{
  const folder = join(place, "threads");
  await using store = filesStore({ folder }); // "threads/"
  await using host = createHost({ llm, store });
  await host.ask("What is a queue?", { threadId: "Order 17" });
  console.log(
    readdirSync(folder)
      .filter((name) => name.endsWith(".jsonl"))
      .join(),
  );
}
rmSync(place, { recursive: true });
