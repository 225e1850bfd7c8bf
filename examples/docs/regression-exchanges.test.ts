// Makes a regression test of logged requests and responses, one a line.
import { readFileSync } from "node:fs";
import { fromChatExchanges, toJournal } from "@colloquy/interchange";
import { conversationMachine } from "@colloquy/machine";
import { journalLines } from "@colloquy/runtime-test/recordings";
import "@colloquy/runtime-test/vitest"; // gives `toReplay`
import { expect, test } from "vitest";
import { system, tide } from "./tide-agent.ts";

const log = journalLines(readFileSync(new URL("logs/exchanges.jsonl", import.meta.url), "utf8"));
const conversations = fromChatExchanges(log);
if ("left" in conversations) throw new Error(conversations.left.reason);

test.each(conversations.right)("conversation %# sends what was logged", (conversation) => {
  const journal = toJournal(conversation, { threadId: "tide", tools: conversation.tools });
  if ("left" in journal) throw new Error(journal.left.reason);
  expect(journal.right).toReplay(conversationMachine({ tools: [tide] }), { system });
});

test("a changed tool description is found at the first call", () => {
  const [conversation] = conversations.right;
  if (conversation === undefined) throw new Error("the log is empty");
  const journal = toJournal(conversation, { threadId: "tide", tools: conversation.tools });
  if ("left" in journal) throw new Error(journal.left.reason);
  const changed = conversationMachine({ tools: [{ ...tide, description: "Tides." }] });
  expect(() => expect(journal.right).toReplay(changed, { system })).toThrow(/turn 1, step 1.*the tools.*tide/);
});

test("a reply that was changed in the log is reported with its step and text", () => {
  const changed: unknown = JSON.parse(JSON.stringify(log).replace("At 18:05.", "At noon."));
  const problem = fromChatExchanges(changed);
  const reason = "left" in problem ? problem.left.reason : "";
  expect(reason).toMatch(/^item 2: message 4 .*At 18:05\..* item 1 was .*At noon\./);
});
