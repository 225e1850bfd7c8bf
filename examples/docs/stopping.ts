// Ends turns by limits, by a signal, from another process and by a later ask: docs/stopping.md shows it.
import { createHost, LimitReachedError, memoryStore, TurnCancelledError } from "@colloquy/runtime-node";
import { runningClock } from "@colloquy/runtime-test";
import { never, reply, scriptedModel } from "@colloquy/runtime-test/models";

const clock = runningClock(); // delays take no time
const store = memoryStore({ clock });
const llm = scriptedModel([
  never({ pieces: ["It is "] }),
  never({ pieces: ["It is "] }),
  never({ pieces: ["A line ", "of people"] }),
  never({ pieces: ["Hm"] }),
  reply("A stack is a pile."),
]);

const host = createHost({
  llm,
  store,
  clock,
  machine: { limits: { steps: 8, toolCalls: 20, deadlineMs: 60_000 } }, // of each turn
});
const thread = host.thread("ada");

const late = thread.ask("What is a queue?", { limits: { deadlineMs: 5_000 } }); // of this turn
await late.catch((error: unknown) => {
  if (!(error instanceof LimitReachedError)) throw error;
  console.log(`${error.reached.limit} after ${error.reached.allowed} ms, shown: "${error.summary.text}"`);
});

const stop = new AbortController();
const asked = thread.ask("What is a queue?", { signal: stop.signal });
for await (const part of asked) if (part.type === "text.delta") stop.abort(new Error("the client is gone"));
await asked.catch((error: unknown) => {
  if (error instanceof TurnCancelledError) console.log(`cancelled: ${error.reason}`);
});

const long = thread.ask("What is a queue?", { askId: "q-3" });
for await (const part of long) if (part.type === "text.delta") break;
const other = createHost({ llm, store, clock }); // in another process
await other.thread("ada").cancel("stopped by its user", "q-3");
console.log((await other.thread("ada").asked("q-3"))?.status);

const replaced = thread.ask("What is a queue?");
for await (const part of replaced) if (part.type === "text.delta") break;
const newer = thread.ask("What is a stack, rather?", { overlap: "interrupt" });
console.log((await newer).text);

await other.close();
await host.close();
