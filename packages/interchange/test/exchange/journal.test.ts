import { conversationMachine, messagesOf } from "@colloquy/machine";
import { decodeJournal, fold } from "@colloquy/machine/journal";
import { describeDifference, replay } from "@colloquy/machine/inspect";
import { lastTurns } from "@colloquy/machine/policies";
import { describe, expect, test } from "vitest";
import { fromChatMessages, toChatMessages } from "../../src/chat/messages.ts";
import { toJournal } from "../../src/exchange/journal.ts";
import { right } from "../laws.ts";

const call = (id: string, name: string) => ({ id, type: "function", function: { name, arguments: "{}" } });
const log = [
  { role: "system", content: "Be brief." },
  { role: "assistant", content: "Ahoy." },
  { role: "user", content: "Wind and tide?", name: "ada" },
  { role: "assistant", content: null, tool_calls: [call("a", "wind"), call("b", "tide")] },
  { role: "tool", tool_call_id: "a", content: "3" },
  { role: "tool", tool_call_id: "b", content: "" },
  { role: "user", content: "Hurry." },
  { role: "assistant", content: "Light, and unknown." },
  { role: "assistant", content: "Really." },
  { role: "system", content: "It is noon." },
  { role: "user", content: "Thanks." },
  { role: "user", content: "And now?" },
];
const read = right(fromChatMessages(log));
const tools = [{ name: "wind" }, { name: "tide" }];
const machine = conversationMachine({ tools });

describe("a conversation as a journal", () => {
  test("has all messages in their order, and ends where the log ends", () => {
    const entries = right(toJournal(read, { threadId: "t", tools }));
    const state = right(fold(right(decodeJournal(JSON.parse(JSON.stringify(entries))))));
    const { value } = toChatMessages(messagesOf(state));
    expect(value.map(({ role, content }) => [role, content ?? ""])).toEqual(
      log.slice(1).map(({ role, content }) => [role, content ?? ""]),
    );
    expect(entries.filter(({ event }) => event.type === "llm.completed")).toHaveLength(3);
  });

  test("replays under a machine that shows all, and names the call at which another would have sent less", () => {
    const entries = right(toJournal(read, { threadId: "t", tools }));
    expect(replay(machine, entries)).toMatchObject({ _tag: "Right" });
    const forgetful = replay(conversationMachine({ tools, policy: lastTurns(0) }), entries);
    if ("right" in forgetful) throw new Error("it should differ");
    expect(describeDifference(forgetful.left)).toMatch(
      /^entry 1 \(turn 1, step 1\): the prompt: was 3 messages; today 2 messages .*"Ahoy\."/,
    );
  });

  test("is not compared by its tools unless they are known", () => {
    const other = conversationMachine({ tools: [...tools, { name: "waves" }] });
    expect(replay(other, right(toJournal(read, { threadId: "t" })))).toMatchObject({ _tag: "Right" });
    expect(replay(other, right(toJournal(read, { threadId: "t", tools })))).toMatchObject({
      left: { what: "the tools that are offered" },
    });
  });

  test("toJournal appends a final instruction as a message, without an ask", () => {
    const more = right(fromChatMessages([...log.slice(0, -2), { role: "system", content: "It is late." }]));
    const entries = right(toJournal(more, { threadId: "t", at: 7 }));
    expect(entries.at(-1)?.event).toMatchObject({ type: "message.appended", message: { content: "It is late." } });
    expect(entries.every(({ event }) => event.at === 7)).toBe(true);
  });

  test("toJournal returns the index of the message that cannot be replayed", () => {
    const said = (role: "user" | "assistant", content: string) => ({ role, content }) as const;
    const call = { id: "a", name: "f", arguments: "{}" };
    const result = { role: "tool", toolCallId: "a", content: "4" } as const;
    const journalOf = (...turn: Parameters<typeof toJournal>[0]["turns"][number]) =>
      toJournal({ system: null, turns: [turn] }, { threadId: "t" });
    const open = { ...said("assistant", ""), toolCalls: [call, { ...call, id: "b" }] };
    expect(journalOf(said("user", "Q"), open, said("assistant", "A"))).toMatchObject({ left: { index: 2 } });
    expect(journalOf(said("user", "Q"), open, result, result, result)).toMatchObject({ left: { index: 4 } });
  });

  test("of no messages is a thread at its beginning", () => {
    expect(right(toJournal({ system: null, turns: [] }, { threadId: "t" }))).toHaveLength(1);
  });
});
