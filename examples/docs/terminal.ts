// The code of docs/terminal.md and of the README of @colloquy/cli/terminal: a conversation, and Markdown as lines.
import { Readable } from "node:stream";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { converse, converseOnScreen, markdownLines, painted, suitsScreen, themeNamed } from "@colloquy/cli/terminal";

const llm = scriptedModel([reply("A queue is a **line**.")]);
const environment = { TERM: "dumb" };
// At a terminal it is `process.stdin`.
const input = Readable.from(["What is a queue?\n"]);

const host = createHost({ llm, store: memoryStore() });
const options = { host, threadId: "ada", input, output: process.stdout };
if (suitsScreen(process.stdout, environment)) await converseOnScreen({ ...options, environment });
else await converse({ ...options, isTerminal: false });
await host.close();

const theme = themeNamed("light", { strong: ["bold", "magenta"] });
for (const line of markdownLines("Rain is **good**.", { columns: 80, soft: false })) console.log(painted(line, theme));
