// Makes a regression test of a list of OpenAI chat messages.
import { readFileSync } from "node:fs";
import { fromChatMessages, toJournal } from "@colloquy/interchange";
import { conversationMachine } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import "@colloquy/runtime-test/vitest"; // gives `toReplay`
import { expect, test } from "vitest";
import { system, tide } from "./tide-agent.ts";

const log: unknown = JSON.parse(readFileSync(new URL("logs/messages.json", import.meta.url), "utf8"));
const read = fromChatMessages(log);
if ("left" in read) throw new Error(read.left.reason);
const journal = toJournal(read.right, { threadId: "tide" });
if ("left" in journal) throw new Error(journal.left.reason);

test("today's agent sends what was logged", () => {
  expect(journal.right).toReplay(conversationMachine({ tools: [tide] }), { system });
});

test("a changed system prompt is found at the first call, with its text", () => {
  const replay = () =>
    expect(journal.right).toReplay(conversationMachine({ tools: [tide] }), { system: `${system} Be polite.` });
  expect(replay).toThrow(/turn 1, step 1.*the prompt: .*\+Be polite\./);
});

test("a forgetful policy is found at the first call that would have sent less", () => {
  const forgetful = conversationMachine({ tools: [tide], policy: lastTurns(0) });
  expect(() => expect(journal.right).toReplay(forgetful, { system })).toThrow(
    /turn 2, step 1.*was 6 messages; today 2/,
  );
});
