import { parentPort } from "node:worker_threads";

import { filesStore } from "../../src/stores/files/files-store.ts";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";
import { take } from "./journal.ts";

// A process, or a worker thread, that takes the leases of two threads, gives one of them back, says so, and waits to be killed.

const [kind, place = ""] = process.argv.slice(2);
const store = kind === "files" ? filesStore({ folder: place }) : sqliteStore({ path: place });
await take(store, "thread", "the holder", 1e9);
await store.release(await take(store, "another thread", "the holder", 1e9));
process.send?.("holds");
parentPort?.postMessage("holds", []);
// A store that nothing refers to is collected as garbage, and its lock with it.
setInterval(() => store, 1e6);
