// Begins, finds, exports and moves threads of several users: docs/managing-threads.md shows it.
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { runningClock, sequentialIds } from "@colloquy/runtime-test";
import { ruleModel } from "@colloquy/runtime-test/models";

const clock = runningClock();
const llm = ruleModel([{ name: "all", when: () => true, answer: () => "Noted." }]);
const setting = { llm, clock, ids: sequentialIds() };
const host = createHost({ ...setting, store: memoryStore({ clock }) });

const trip = host.thread("trip-1");
await trip.start({ system: "You plan trips.", metadata: { user: "ada", topic: "Oslo" } });
await trip.ask("By train, please.");
await trip.changeSystem("You plan cheap trips."); // from the next model call on
await trip.append({ role: "user", content: "The budget is 300 euros." }); // calls no model

await host.thread("trip-2").start({ metadata: { user: "grace" } });
const { threads, next } = await host.threads({ metadata: { user: "ada" }, order: "oldest", limit: 100 });
console.log(threads.map(({ threadId, metadata }) => `${threadId}: ${JSON.stringify(metadata)}`).join("\n"), next);

const { hits } = await host.search("budget euros", { limit: 20 });
for (const { threadId, seq, excerpt } of hits) console.log(`${threadId}, entry ${seq}: ${excerpt}`);

const old = await host.importMessages(
  {
    system: "You plan trips.",
    turns: [
      [
        { role: "user", content: "Hello" },
        { role: "assistant", content: "Where to?" },
      ],
    ],
  },
  { threadId: "trip-0", metadata: { user: "ada" } },
);
const copy = await host.importJournal(await old.exportJournal(), { threadId: "trip-0-copy" });
console.log((await copy.figures())?.turns);

const other = createHost({ ...setting, store: memoryStore({ clock }) });
const moved = await trip.moveTo(other); // its journal is there now, and gone here
console.log((await moved.ask("And back?")).turn, await trip.state());

await other.close();
await host.close();
