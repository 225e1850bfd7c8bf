import { describe, expect, test } from "vitest";
import {
  conversationMachine,
  lastTurnOf,
  messagesOf,
  noUsage,
  phaseOf,
  promptOf,
  type SeedDraft,
  start,
  textOf,
  toolResultOf,
} from "../../src/index.ts";
import { decodeJournal, fold } from "../../src/journal.ts";
import { checkPrompt, lastTurns, type PolicyDecision } from "../../src/policies.ts";
import { calling, Talk } from "../talk.ts";

// Repeats the behaviour of Jido AI's ReAct machine, from its own tests and code. If this machine answers otherwise, the
// test's name says so.

const machine = conversationMachine({
  tools: [{ name: "calculator" }, { name: "search" }],
  retry: { attempts: 1 },
});
const talk = (): Talk => new Talk(machine, { system: "You are helpful." });
const texts = (prompt: readonly Parameters<typeof textOf>[0][]): readonly string[] =>
  prompt.map((message) => `${message.role}: ${textOf(message)}`);

describe("Jido's machine", () => {
  test("1: a new conversation is idle, has made no step and used nothing", () => {
    const { state } = talk();
    expect(phaseOf(state)).toBe("idle");
    expect(state.context).toMatchObject({ open: null, usage: { total: noUsage } });
  });

  test("2: an ask in idle calls the model with the system and the user message (the call's id is derived, not the host's)", () => {
    const conversation = talk();
    conversation.tell({ type: "ask.received", askId: "call_123", input: "Hello" });
    expect(phaseOf(conversation.state)).toBe("awaiting_llm");
    const calls = conversation.effects.filter(({ type }) => type === "callLlm");
    expect(calls).toMatchObject([{ id: "t/1.1#1", turn: 1, step: 1 }]);
    expect(texts(conversation.call().messages)).toEqual(["system: You are helpful.", "user: Hello"]);
  });

  test("3: the usage of the calls of one turn adds up", () => {
    const conversation = talk();
    conversation.ask("Hello");
    conversation.reply(calling("search"), { usage: { inputTokens: 50, outputTokens: 25 } });
    conversation.result(0, "found");
    conversation.reply("Done.", { usage: { inputTokens: 100, outputTokens: 50 } });
    expect(lastTurnOf(conversation.state)?.usage).toMatchObject({
      inputTokens: { sum: 150 },
      outputTokens: { sum: 75 },
    });
  });

  test("4: a call without a report leaves the sum (and is counted as unreported, which Jido does not)", () => {
    const conversation = talk();
    conversation.ask("Hello");
    conversation.reply(calling("search"), { usage: { inputTokens: 50 } });
    conversation.result(0, "found");
    conversation.reply("Done.");
    expect(lastTurnOf(conversation.state)?.usage.inputTokens).toEqual({ sum: 50, reported: 1, unreported: 1 });
  });

  test("5: a text completes the turn, and nothing more is asked for (observers are told)", () => {
    const conversation = talk();
    conversation.ask("What is the answer?");
    conversation.reply("The answer is 42.");
    expect(phaseOf(conversation.state)).toBe("completed");
    expect(lastTurnOf(conversation.state)?.outcome).toEqual({ status: "completed", finishReason: "stop" });
    expect(messagesOf(conversation.state).map(textOf).at(-1)).toBe("The answer is 42.");
    expect(conversation.effects.filter(({ type }) => type !== "publish")).toEqual([]);
  });

  test("6: a failed call ends the turn in error (once no attempt is left)", () => {
    const conversation = talk();
    conversation.ask("Hello");
    conversation.fail({ kind: "rate_limit", retryable: true });
    expect(phaseOf(conversation.state)).toBe("error");
    expect(lastTurnOf(conversation.state)?.outcome).toMatchObject({
      status: "failed",
      failure: { kind: "rate_limit" },
    });
  });

  test("7: cancelling the ask that is open ends it in error, cancelled, with the reason (and stops the call, which Jido does not)", () => {
    const conversation = talk();
    conversation.ask("Hello", "req_123");
    conversation.tell({ type: "cancel.requested", askId: "req_123", reason: "user_cancelled" });
    expect(phaseOf(conversation.state)).toBe("error");
    expect(lastTurnOf(conversation.state)?.outcome).toEqual({ status: "cancelled", reason: "user_cancelled" });
    expect(conversation.effects[0]).toEqual({ type: "cancelLlm", effectId: "t/1.1#1" });
  });

  test("8: cancelling another ask changes nothing (and is refused in words)", () => {
    const conversation = talk();
    conversation.ask("Hello", "req_123");
    expect(conversation.refused({ type: "cancel.requested", askId: "req_other" })).toMatchObject({ kind: "unknown" });
  });

  test("9: the last result of step 10 of 10 ends the turn (failed with its limit, not completed with a made-up text)", () => {
    const conversation = new Talk(conversationMachine({ tools: [{ name: "search" }], limits: { steps: 10 } }));
    conversation.ask("Hello");
    for (let step = 1; step <= 10; step++) {
      expect(conversation.call().step).toBe(step);
      conversation.reply(calling("search"));
      conversation.result(0, "found");
    }
    expect(phaseOf(conversation.state)).toBe("error");
    expect(lastTurnOf(conversation.state)).toMatchObject({
      steps: 10,
      outcome: { status: "failed", limit: { limit: "steps", allowed: 10, reached: 11 } },
    });
  });

  test("10: what streamed is kept when the turn is stopped, text and thinking (the host journals now and then what is new)", () => {
    const conversation = talk();
    conversation.ask("Hello");
    const effectId = conversation.call().id;
    const partial = (text: string, thinking: string) => ({
      content: [
        { type: "reasoning", text: thinking },
        { type: "text", text },
      ] as const,
    });
    conversation.tell({
      type: "llm.progressed",
      effectId,
      partial: { content: [{ type: "reasoning", text: "Let me think" }] },
    });
    conversation.tell({ type: "llm.progressed", effectId, partial: partial("Hello", "...") });
    conversation.tell({ type: "llm.progressed", effectId, partial: { content: " world" } });
    conversation.tell({ type: "cancel.requested" });
    expect(messagesOf(conversation.state).at(-1)).toMatchObject({
      role: "assistant",
      incomplete: true,
      parts: [
        { type: "reasoning", text: "Let me think..." },
        { type: "text", text: "Hello world" },
      ],
    });
  });

  test("11: a partial or a reply under a wrong id is ignored (refused as stale, the state being the same reference)", () => {
    const conversation = talk();
    conversation.ask("Hello");
    const wrong = { effectId: "wrong" } as const;
    expect(conversation.refused({ type: "llm.progressed", ...wrong, partial: { content: "Hi" } })).toMatchObject({
      kind: "stale",
    });
    expect(
      conversation.refused({ type: "llm.completed", ...wrong, reply: { content: "Hi" }, finishReason: null }),
    ).toMatchObject({ kind: "stale" });
  });

  test.each(["awaiting_llm", "awaiting_tool"])(
    "12: an ask in %s is refused as busy, and the state stays (the reason names the turn and the way out)",
    (phase) => {
      const conversation = talk();
      conversation.ask("Hello");
      if (phase === "awaiting_tool") conversation.reply(calling("search"));
      expect(phaseOf(conversation.state)).toBe(phase);
      const refusal = conversation.refused({ type: "ask.received", askId: "call_456", input: "And?" });
      expect(refusal.kind).toBe("busy");
      expect(refusal.reason).toContain("turn 1 is open");
    },
  );

  test("13: a follow-up goes on with what was said", () => {
    const conversation = talk();
    conversation.ask("Hello");
    conversation.reply("Hi.");
    conversation.ask("Follow up");
    expect(phaseOf(conversation.state)).toBe("awaiting_llm");
    expect(texts(conversation.call().messages)).toEqual([
      "system: You are helpful.",
      "user: Hello",
      "assistant: Hi.",
      "user: Follow up",
    ]);
  });

  test("14: an ask after an error goes on, and where the error came while tools were out there is no orphan call", () => {
    const conversation = talk();
    conversation.ask("Hello");
    conversation.reply(calling("search", "calculator"));
    conversation.result(1, "4");
    conversation.tell({ type: "cancel.requested" });
    conversation.ask("Try again");
    expect(phaseOf(conversation.state)).toBe("awaiting_llm");
    const { messages } = conversation.call();
    expect(checkPrompt(messages)).toBeNull();
    expect(messages.flatMap((message) => toolResultOf(message)?.outcome ?? [])).toEqual(["interrupted", "completed"]);
  });

  test("15: results that come in another order stand in call order, and the model is called only after both", () => {
    const conversation = talk();
    conversation.ask("Hello");
    conversation.reply(calling("search", "calculator"));
    conversation.result(1, "second call, first answer");
    expect(conversation.effects).toEqual([]);
    conversation.result(0, "first call, second answer");
    expect(conversation.effects.map(({ type }) => type)).toEqual(["callLlm"]);
    expect(conversation.call().messages.slice(-2).map(textOf)).toEqual([
      "first call, second answer",
      "second call, first answer",
    ]);
  });

  test("16: an empty list of tool calls is a final answer (Jido waits for ever)", () => {
    const conversation = talk();
    conversation.ask("Hello");
    conversation.reply({ content: "Hi.", toolCalls: [] });
    expect(phaseOf(conversation.state)).toBe("completed");
  });

  test("17: a tool result of null completes its round (Jido waits for ever)", () => {
    const conversation = talk();
    conversation.ask("Hello");
    conversation.reply(calling("search"));
    conversation.result(0, null);
    expect(phaseOf(conversation.state)).toBe("awaiting_llm");
  });

  test("18: a state through JSON is the same, and a beginning with only what is required has its defaults", () => {
    const conversation = talk();
    conversation.ask("Hello");
    conversation.reply(calling("search"));
    expect(JSON.parse(JSON.stringify(conversation.state))).toEqual(conversation.state);
    const read = decodeJournal([{ seq: 0, format: 2, event: { type: "thread.started", at: 5, threadId: "t" } }]);
    expect(read).toMatchObject({ _tag: "Right" });
    const folded = "right" in read ? fold(read.right) : read;
    expect(folded).toMatchObject({
      right: { value: "idle", context: { createdAt: 5, metadata: {}, model: {}, queue: [] } },
    });
  });

  test("19: thinking is kept once for each call, and not at all where there was none (the streamed text is the reply's, as the handler gives it)", () => {
    const conversation = talk();
    conversation.ask("Hello");
    conversation.reply({ content: [{ type: "reasoning", text: "streamed" }], ...calling("search") });
    conversation.result(0, "found");
    conversation.reply("Done.");
    const thinking = messagesOf(conversation.state).map(
      ({ parts }) => parts.filter(({ type }) => type === "reasoning").length,
    );
    expect(thinking).toEqual([0, 1, 0, 0]);
  });

  test("20: observers are told that a turn started (with its ask's id; lengths and iterations are on the calls themselves)", () => {
    const conversation = talk();
    conversation.ask("Hello world", "call_123");
    expect(conversation.effects[0]).toEqual({
      type: "publish",
      signal: { type: "turn.started", turn: 1, askIds: ["call_123"] },
    });
    conversation.reply(calling("search"));
    conversation.result(0, "found");
    expect(conversation.call()).toMatchObject({ turn: 1, step: 2 });
  });

  test("22: a cut inside a tool round of 51 messages splits no round (whole units are left out, so a few more or less than 10 stay)", () => {
    const seed = Array.from({ length: 17 }, (_, index): readonly SeedDraft[] => [
      { role: "user", content: `question ${index}` },
      { role: "assistant", toolCalls: [{ id: "call_0", name: "search", arguments: "{}" }] },
      { role: "tool", toolCallId: "call_0", content: "found" },
    ]).flat();
    // Ten messages before the end is a result, whose call would be left out.
    const tenMessages = {
      ...lastTurns(0),
      name: "ten-messages",
      decide: ({ history }: Parameters<ReturnType<typeof lastTurns>["decide"]>[0]): PolicyDecision => {
        const units = [...history.newestFirst()].flatMap((turn) => [...turn.units()].reverse());
        let kept = 0;
        const first = units.find(({ messages }) => (kept += messages.length) >= 10);
        return {
          from: first === undefined ? null : { turn: first.turn, unit: first.position },
          reason: "ten messages",
        };
      },
    };
    const pruning = conversationMachine({ policy: tenMessages });
    const { state } = start(pruning, { threadId: "t", at: 0, system: "You are helpful.", seed });
    expect(messagesOf(state)).toHaveLength(51);
    const { messages } = promptOf(pruning, state);
    expect(messages.map(({ role }) => role).slice(0, 4)).toEqual(["system", "user", "assistant", "tool"]);
    expect(messages).toHaveLength(1 + 12);
    expect(checkPrompt(messages)).toBeNull();
  });
});
