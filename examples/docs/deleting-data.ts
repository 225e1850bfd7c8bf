// Takes words out of a thread, and deletes all threads of a user: docs/deleting-data.md shows it.
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { runningClock } from "@colloquy/runtime-test";
import { ruleModel } from "@colloquy/runtime-test/models";

const llm = ruleModel([{ name: "all", when: () => true, answer: () => "I will not repeat it." }]);
const clock = runningClock();
const host = createHost({ llm, clock, store: memoryStore({ clock }), thread: { metadata: { user: "ada" } } });

const { turn } = await host.ask("My password is 1234.", { threadId: "a" });
await host.thread("a").fork({ threadId: "a-copy" });

await host.thread("a").redact({ turn }, { reason: "a password", copies: ["a-copy"] });
console.log(`${(await host.search("password")).hits.length} hits`);

/** Deletes all threads of a user, page by page. */
const deleteThreadsOf = async (user: string): Promise<void> => {
  for (let hasMore = true; hasMore;) {
    const { threads, next } = await host.threads({ metadata: { user } });
    for (const { threadId } of threads) await host.thread(threadId).delete();
    hasMore = next !== null;
  }
};
await deleteThreadsOf("ada");
console.log(`${(await host.threads()).threads.length} threads`);
await host.close();
