// Two processes on one store: one has the lease of a thread, the other asks by the inbox. docs/recovery.md shows it.
import { createHost, type LlmHandler, memoryStore, ThreadHeldError } from "@colloquy/runtime-node";

const called = Promise.withResolvers<void>();
const mayAnswer = Promise.withResolvers<void>();
const llm: LlmHandler = async () => {
  called.resolve();
  await mayAnswer.promise;
  return { type: "completed", reply: { content: "A line." }, finishReason: "stop" };
};

const store = memoryStore(); // postgresStore({ connectionString }), for several machines
const options = { llm, store, machine: { overlap: { type: "queue", max: 20 } }, pollMs: 10 } as const;

const one = createHost(options);
const first = one.ask("What is a queue?", { threadId: "shared" });
await called.promise; // this host has the lease, and works

const two = createHost(options); // in another process
const second = two.ask("And a stack?", { threadId: "shared" }); // goes to the inbox, and is followed
const edited = await two
  .thread("shared")
  .changeSystem("Be brief.")
  .catch((error: unknown) => error);
if (edited instanceof ThreadHeldError) console.log("edit it when the other host is done");

mayAnswer.resolve();
console.log((await first).turn, (await second).turn);
await two.close();
await one.close();
