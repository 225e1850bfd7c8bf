import { describe, expect, test } from "vitest";
import { conversationMachine, start, transition } from "../../src/index.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { calling, Talk } from "../talk.ts";

describe("a round that is appended", () => {
  test("may have more calls than a function takes arguments", () => {
    const many = 130_000;
    const talk = new Talk(conversationMachine());
    const toolCalls = Array.from({ length: many }, () => ({ id: null, name: "f", arguments: "{}" }));
    const results = Array.from({ length: many }, () => ({ outcome: "completed", content: "" }) as const);
    talk.tell({ type: "round.appended", reply: { toolCalls }, results });
    expect(talk.state.context.conversation.appended).toHaveLength(many + 1);
  });
});

const calls = (...names: readonly string[]) => ({ toolCalls: calling(...names).toolCalls ?? [] });

describe("tool calls that would vanish", () => {
  test("in the chat format are refused, in turns, seeds and messages", () => {
    const { machine, state } = new CheckedTalk();
    const foreign = { role: "assistant", content: "", tool_calls: [{ id: "x" }] } as const;
    const refused = transition(machine, state, { type: "turn.added", at: 1, messages: [foreign] });
    expect(refused).toMatchObject({ handled: false, refusal: { kind: "invalid" } });
    expect(!refused.handled && refused.refusal.reason).toMatch(/"tool_calls".*fromChatMessage/);
    expect(() => start(machine, { threadId: "t", at: 0, seed: [foreign] })).toThrow(/"tool_calls".*fromChatMessage/);
    expect(transition(machine, state, { type: "message.appended", at: 1, message: foreign }).handled).toBe(false);
  });

  test("of a message of no assistant are refused", () => {
    const { machine, state } = new CheckedTalk();
    const messages = [{ role: "user", content: "", ...calls("search") }] as const;
    const refused = transition(machine, state, { type: "turn.added", at: 1, messages });
    expect(!refused.handled && refused.refusal.reason).toMatch(/role "user".*only an assistant calls tools/);
  });
});
