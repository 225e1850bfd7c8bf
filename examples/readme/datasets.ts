import { jsonLines, linearise, toSft } from "@colloquy/sessions/datasets";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";

const host = createHost({ llm: scriptedModel([reply("A line of people.")]), store: memoryStore() });
const thread = host.thread("ada");
await thread.ask("What is a queue?");
await thread.annotate(1, "score", 0.9);

const journals = [{ name: "ada", entries: await thread.exportJournal() }];
const { examples, leftOut } = linearise(journals, { minScore: 0.5 });
console.log(jsonLines(toSft(examples).rows), leftOut.length);
await host.close();
