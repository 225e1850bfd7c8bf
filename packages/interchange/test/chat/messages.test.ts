import { describe, expect, test } from "vitest";
import { fromChatMessages, toChatMessages } from "../../src/chat/messages.ts";
import { conversationMachine, messagesOf } from "@colloquy/machine";
import { calling, Talk } from "../../../machine/test/talk.ts";
import { keepsTheLaws, right, threadOf } from "../laws.ts";

describe("laws", () => {
  keepsTheLaws({ write: toChatMessages, read: fromChatMessages });
});

describe("without ids", () => {
  keepsTheLaws({ write: (messages) => toChatMessages(messages, { missingIds: "absent" }), read: fromChatMessages });
});

describe("a conversation", () => {
  test("with calls of one reply under one id has them kept apart", () => {
    const toolCalls = ["1", "2"].map((given) => ({ id: "a", name: "f", arguments: given }));
    const results = ["one", "two"].map((content) => ({ role: "tool" as const, toolCallId: "a", content }));
    const messages = threadOf({ system: null, turns: [[{ role: "assistant", toolCalls }, ...results]], losses: [] });
    const { value, losses } = toChatMessages(messages);
    expect(value).toMatchObject([
      { tool_calls: [{ id: "a" }, { id: "call_1_0_1" }] },
      { tool_call_id: "a", content: "one" },
      { tool_call_id: "call_1_0_1", content: "two" },
    ]);
    expect(losses.map(({ index, path }) => [index, path])).toEqual([
      [0, "parts.1.providerCallId"],
      [2, "parts.0.providerCallId"],
    ]);
    expect(right(fromChatMessages(value)).losses).toEqual([]);
  });

  test("loses nothing where a call has the number of its step, and its message another", () => {
    const talk = new Talk(conversationMachine({ tools: [{ name: "f" }] }));
    talk.tell({ type: "message.appended", message: { role: "user", content: "By the way:" } });
    talk.ask("What is it?");
    talk.reply(calling("f"));
    talk.result(0, "found");
    expect(messagesOf(talk.state).map(({ id }) => id)).toEqual(["1.0", "1.1", "1.2", "1.1.0"]);
    expect(toChatMessages(messagesOf(talk.state)).losses).toEqual([]);
  });

  test("that is open says what is missing", () => {
    const toolCalls = [{ id: "a", name: "f", arguments: "{}" }];
    const [asked] = threadOf(
      right(
        fromChatMessages(
          toChatMessages(
            threadOf({
              system: null,
              turns: [
                [
                  { role: "assistant", toolCalls },
                  { role: "tool", toolCallId: "a", content: "" },
                ],
              ],
              losses: [],
            }),
          ).value,
        ),
      ),
    );
    if (asked === undefined) throw new Error("no message");
    expect(toChatMessages([asked]).losses).toMatchObject([
      {
        index: 0,
        messageId: asked.id,
        what: 'no result for call "a" of "f"',
        why: expect.stringContaining("none yet"),
      },
    ]);
  });
});
