// Shows what happens to an ask while another is being answered, and two hosts on one thread.
import { type Overlap } from "@colloquy/machine";
import { awaitMany, createHost, type Host, memoryStore } from "@colloquy/runtime-node";
import { ruleModel } from "@colloquy/runtime-test/models";

const llm = ruleModel([
  {
    name: "all",
    when: () => true,
    answer: ({ messages }) => `an answer to: ${messages.map(({ text }) => text).join(", ")}`,
  },
]);
const store = memoryStore();
const hostWith = (overlap: Overlap): Host =>
  createHost({
    machine: { overlap },
    store,
    llm,
    pollMs: 5,
  });

for (const overlap of [
  { type: "reject" },
  { type: "queue", max: 5 },
  { type: "merge", max: 5 },
  { type: "latest" },
  { type: "interrupt" },
  { type: "steer", max: 5 },
] as const) {
  const thread = hostWith(overlap).thread(overlap.type);
  const asks = ["one", "two", "three"].map((text) => thread.ask(text, { askId: text }));
  console.log(`\n${overlap.type}`);
  for (const outcome of await awaitMany(asks)) {
    console.log(`  ${outcome.type === "result" ? outcome.result.text : String(outcome.error)}`);
  }
  // Any process can look up the outcome of each ask by its id, also later.
  const records = (await thread.asks()).map(({ askId, status, turn }) => `${askId} ${status} ${turn ?? ""}`.trim());
  console.log(`  ${records.join("; ")}`);
  await thread.close();
}

console.log("\ntwo hosts on one thread: one leases it, the other leaves its ask in the inbox and follows");
const [holder, other] = [hostWith({ type: "queue", max: 5 }), hostWith({ type: "queue", max: 5 })];
const first = holder.ask("from the one", { threadId: "shared" });
const second = other.ask("from the other", { threadId: "shared" });
console.log(`  ${(await first).text}\n  ${(await second).text}`);
await Promise.all([holder.close(), other.close()]);
