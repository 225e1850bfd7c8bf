import { createHost, memoryStore } from "@colloquy/runtime-node";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { spansOf } from "@colloquy/host/telemetry";

const llm = scriptedModel([reply("A line of people.", { usage: { inputTokens: 40, outputTokens: 9 } })]);
const host = createHost({ llm, store: memoryStore() });
await host.ask("What is a queue?", { threadId: "ada" });

const spans = spansOf(await host.thread("ada").exportJournal(), { agent: "teacher" });
if ("left" in spans) throw new Error(spans.left.reason);
for (const { name, attributes } of spans.right) console.log(name, attributes["gen_ai.usage.input_tokens"] ?? "");
await host.close();
