import { describe, expect, test } from "vitest";
import { conversationMachine, messagesOf, start, textOf, transition } from "../../src/index.ts";
import { explain } from "../../src/inspect.ts";
import { checkPrompt, unitsOf } from "../../src/policies.ts";
import type { RoundAppended } from "../../src/index.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { calling, Talk } from "../talk.ts";

const round = (found = "found"): Omit<RoundAppended, "at"> => ({
  type: "round.appended",
  reply: {
    content: [
      { type: "reasoning", text: "hm" },
      { type: "text", text: "Let me see." },
    ],
    ...calling("search", "read"),
  },
  results: [
    { outcome: "completed", content: found },
    { outcome: "failed", content: null },
  ],
});

const talkWithSearch = (): CheckedTalk => new CheckedTalk({ tools: [{ name: "search" }] });

describe("a round that is appended", () => {
  test("may have more calls than a function takes arguments", () => {
    const many = 130_000;
    const talk = new Talk(conversationMachine());
    const toolCalls = Array.from({ length: many }, () => ({ id: null, name: "f", arguments: "{}" }));
    const results = Array.from({ length: many }, () => ({ outcome: "completed", content: "" }) as const);
    talk.tell({ type: "round.appended", reply: { toolCalls }, results });
    expect(talk.state.context.conversation.appended).toHaveLength(many + 1);
  });

  test("between turns leads the next turn, whole, as one unit", () => {
    const talk = talkWithSearch();
    talk.tell({ ...round(), metadata: { from: "elsewhere" } });
    talk.ask("Go.");
    const { messages } = talk.call();
    expect(checkPrompt(messages)).toBeNull();
    expect(messages.map(({ id }) => id)).toEqual(["1.0", "1.r0.0", "1.r0.1", "1.3"]);
    expect(messages[0]?.metadata).toEqual({ from: "elsewhere" });
    expect(unitsOf(1, messages).map(({ kind }) => kind)).toEqual(["round", "message"]);
    talk.reply("done");
    expect(explain(talk.machine, talk.state).units.map(({ kind }) => kind)).toEqual(["round", "message", "message"]);
    talk.replays();
  });

  test("while a call or tools are out waits for the batch; its calls await no answer", () => {
    const talk = talkWithSearch();
    talk.ask("Go.");
    talk.tell(round("during the call"));
    talk.reply(calling("search"));
    talk.tell(round("during the tool"));
    expect(talk.out()).toHaveLength(1);
    expect(talk.refused({ type: "tool.completed", effectId: "t/1.r1.0#1", content: "" }).kind).toBe("stale");
    talk.result(0, "own");
    const { messages } = talk.call();
    expect(checkPrompt(messages)).toBeNull();
    expect(messages.map(({ role, ...message }) => `${role} ${textOf({ role, ...message })}`)).toEqual([
      "user Go.",
      "assistant ",
      "tool own",
      "assistant Let me see.",
      "tool during the call",
      "tool ",
      "assistant Let me see.",
      "tool during the tool",
      "tool ",
    ]);
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
    talk.reply("done");
    expect(messagesOf(talk.state)).toHaveLength(messages.length + 1);
    talk.replays();
  });

  test("joins at once where the turn waits for a retry, and counts for no limit", () => {
    const talk = new CheckedTalk({ retry: { attempts: 2 }, limits: { toolCalls: 0 } });
    talk.ask("Go.");
    talk.fail({ retryable: true });
    talk.tell(round());
    talk.fire("retry");
    expect(talk.call().messages).toHaveLength(4);
    talk.reply("done");
    expect(talk.state.value).toBe("completed");
  });

  test.each<readonly [string, Partial<RoundAppended>, RegExp]>([
    ["without a call", { reply: { content: "none" } }, /at least one tool call.*"message\.appended"/],
    ["with an empty list of calls", { reply: { toolCalls: [] }, results: [] }, /at least one tool call/],
    ["that lacks a result", { results: [{ outcome: "completed", content: "" }] }, /2 calls and 1 result;/],
    ["that has one too many", { reply: calling("search") }, /1 call and 2 results;/],
  ])("%s is refused in words", (_, wrong, reason) => {
    const refusal = talkWithSearch().refused({ ...round(), ...wrong });
    expect(refusal.kind).toBe("invalid");
    expect(refusal.reason).toMatch(reason);
  });
});

const calls = (...names: readonly string[]) => ({ toolCalls: calling(...names).toolCalls ?? [] });

describe("tool calls that would vanish", () => {
  const message = { role: "assistant", content: "Let me see.", ...calls("search") } as const;

  test("of an appended message are refused, and the refusal names round.appended", () => {
    const talk = new CheckedTalk();
    expect(talk.refused({ type: "message.appended", message })).toMatchObject({
      kind: "invalid",
      reason: expect.stringContaining('as "round.appended"'),
    });
    // An empty list is none.
    talk.tell({ type: "message.appended", message: { ...message, ...calls() } });
  });

  test("of an ask are refused", () => {
    const input = [{ role: "user", content: "Go." }, message] as const;
    expect(new CheckedTalk().refused({ type: "ask.received", askId: "a", input }).reason).toMatch(
      /^message 1 has toolCalls/,
    );
  });

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
