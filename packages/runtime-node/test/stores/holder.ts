import { parentPort } from "node:worker_threads";

import { take } from "./journal.ts";
import { storeAt } from "./kinds.ts";

// A process or worker thread that takes the leases of two threads, releases one, reports it, and waits to be killed.

const [kind, place = ""] = process.argv.slice(2);
const store = storeAt(kind ?? "", place);
await take(store, "thread", "the holder", 1e9);
await store.release(await take(store, "another thread", "the holder", 1e9));
process.send?.("holds");
parentPort?.postMessage("holds", []);
// Keeps the store referenced: a garbage-collected store would lose its lock.
setInterval(() => store, 1e6);
