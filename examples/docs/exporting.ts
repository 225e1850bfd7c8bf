// Exports a journal in JSON lines, and shows what another configuration would have sent, for docs/prompts.md.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { comparePrompts, comparisonTable } from "@colloquy/machine/inspect";
import { decodeJournal } from "@colloquy/machine/journal";
import { runningClock, sequentialIds } from "@colloquy/runtime-test";
import { ruleModel } from "@colloquy/runtime-test/models";
import tomorrow from "./tomorrow.ts";

const clock = runningClock();
const store = memoryStore({ clock });
const host = createHost({
  store,
  llm: ruleModel([{ name: "answers", when: () => true, answer: () => "A queue is a line, and those who come wait. " }]),
  clock,
  ids: sequentialIds(),
});
for (let word = 1; word <= 12; word++) await host.ask(`What does word ${word} mean?`, { threadId: "ada" });
await host.close();

const journals = mkdtempSync(join(tmpdir(), "colloquy-docs-"));

const entries = await store.read("ada");
const lines = entries.map((entry) => JSON.stringify(entry)).join("\n");
writeFileSync(join(journals, "ada.jsonl"), lines);

rmSync(journals, { recursive: true });
const journal = decodeJournal(entries);
if ("left" in journal) throw new Error(journal.left.reason);
console.log(comparisonTable(comparePrompts([{ name: "ada", entries: journal.right }], {}, tomorrow)));
