import { createHost, memoryStore, openaiChat } from "@colloquy/runtime-node";
import { converse, converseOnScreen, suitsScreen } from "@colloquy/cli/terminal";

const host = createHost({ llm: openaiChat({ model: "gpt-4o-mini" }), store: memoryStore() });
const options = { host, threadId: "ada", input: process.stdin, output: process.stdout };
if (suitsScreen(process.stdout, process.env)) await converseOnScreen({ ...options, environment: process.env });
else await converse({ ...options, isTerminal: false });
await host.close();
