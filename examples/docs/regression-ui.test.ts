// Makes a regression test of the `messages` column in which an AI SDK application keeps its UI messages.
import { readFileSync } from "node:fs";
import { fromUiMessages, toJournal } from "@colloquy/interchange";
import { conversationMachine } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import "@colloquy/runtime-test/vitest"; // gives `toReplay`
import { expect, test } from "vitest";
import { system, tide } from "./tide-agent.ts";

const column: unknown = JSON.parse(readFileSync(new URL("logs/ui-messages.json", import.meta.url), "utf8"));
const read = fromUiMessages(column);
if ("left" in read) throw new Error(read.left.reason);
// The column lacks the system prompt. Use the one of that day, not today's.
const logged = "You answer questions about the tide, briefly.";
const journal = toJournal({ ...read.right, system: logged }, { threadId: "tide" });
if ("left" in journal) throw new Error(journal.left.reason);

test("today's agent sends what the recorded one sent", () => {
  expect(journal.right).toReplay(conversationMachine({ tools: [tide] }), { system });
});

test("a forgetful policy is found at the first call that would have sent less", () => {
  const forgetful = conversationMachine({ tools: [tide], policy: lastTurns(0) });
  expect(() => expect(journal.right).toReplay(forgetful, { system })).toThrow(
    /turn 2, step 1.*was 6 messages; today 2/,
  );
});
