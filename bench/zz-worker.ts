import { createHost, awaitMany } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { randomIds, sqliteStore, systemClock } from "@colloquy/runtime-node";
const [, , path, name, count] = process.argv;
const store = sqliteStore({ path: path!, synchronous: "NORMAL" } as never);
const errors: string[] = [];
const host = createHost({
  machine: conversationMachine({ overlap: { type: "queue", max: 100_000 } }),
  store, clock: systemClock, ids: randomIds, owner: name!, pollMs: 20, leaseTtlMs: 3000, idleMs: 100,
  llm: async () => ({ type: "completed", reply: { content: "ok" }, finishReason: "stop" }),
  onObserverError: (e, w) => { if (errors.length < 5) errors.push(`${w}: ${String(e)}`); },
});
const t = Date.now();
const outcomes = await awaitMany(Array.from({ length: Number(count) }, (_, i) => host.ask(`q ${name} ${i}`, { threadId: "shared", askId: `${name}-${i}` })));
const bad = outcomes.filter((o) => o.type === "error");
console.log(name, "done", Date.now() - t, "ms; failed", bad.length, bad.slice(0, 3).map((b) => b.type === "error" && String(b.error)), errors);
await host.close(); await store.close();
