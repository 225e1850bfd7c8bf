import { interrupt } from "@colloquy/memories/dialogue";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";

const llm = scriptedModel([reply("Pi is 3.14, roughly. Shall I go on? There are more digits.")]);
const host = createHost({ llm, store: memoryStore() });
const thread = host.thread("lesson");
await thread.ask("What is pi?");

// The child speaks at the sixth character of the third clause.
const { spoken, unspoken } = await interrupt(thread, { clause: 2, character: 5 });
console.log(JSON.stringify([spoken, unspoken]));
await host.close();
