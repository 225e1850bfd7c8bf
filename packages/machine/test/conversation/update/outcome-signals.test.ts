import { describe, expect, test } from "vitest";
import { conversationMachine, type Effect, type MachineOptions, type Signal, transition } from "../../../src/index.ts";
import { calling, Talk } from "../../talk.ts";

// Signals to observers about each model call and tool: who answered, how it ended, what it used. Losing one loses no
// state.

const tools = [{ name: "search" }, { name: "pay", approval: "always" }] as const;

const outcomesIn = (effects: readonly Effect[]): readonly Signal[] =>
  effects.flatMap((effect) =>
    effect.type === "publish" && /^(model|tool)\./.test(effect.signal.type) ? effect.signal : [],
  );

/** A conversation, and the outcomes that the newest event was heard with. */
const talking = (options: MachineOptions = {}) => {
  const talk = new Talk(conversationMachine({ tools, ...options }));
  const heard = (told: Parameters<Talk["tell"]>[0]): readonly Signal[] => outcomesIn(talk.tell(told).effects);
  return { talk, heard };
};

const answer = { turn: 1, step: 1, attempt: 1, purpose: "answer" } as const;

describe("observers hear", () => {
  test("that a model replied: its model, its usage as it was reported, and what it costs", () => {
    const pricing = { name: "p", version: 1, options: {}, price: () => ({ nano: 7, currency: "USD" }) };
    const { talk, heard } = talking({ pricing });
    talk.ask("Go.");
    const usage = { inputTokens: 3, outputTokens: 1 };
    const event = { type: "llm.completed", effectId: "t/1.1#1", finishReason: "stop", model: "m", usage } as const;
    expect(heard({ ...event, reply: { content: "Done." } })).toEqual([
      {
        type: "model.replied",
        ...answer,
        finishReason: "stop",
        toolCalls: 0,
        model: "m",
        usage,
        cost: { nano: 7, currency: "USD" },
      },
    ]);
  });

  test("that a call failed, and that the next attempt replied", () => {
    const { talk, heard } = talking({ retry: { attempts: 2 } });
    talk.ask("Go.");
    const failure = { kind: "overloaded", message: "busy", retryable: true } as const;
    expect(heard({ type: "llm.failed", effectId: "t/1.1#1", failure })).toEqual([
      { type: "model.failed", ...answer, failure: "overloaded" },
    ]);
    heard({ type: "timer.fired", effectId: "t/1.1#2!retry" });
    expect(heard({ type: "llm.completed", effectId: "t/1.1#2", finishReason: null, reply: { content: "" } })).toEqual([
      { type: "model.replied", ...answer, attempt: 2, finishReason: null, toolCalls: 0 },
    ]);
  });

  test("how each tool ended, those that the machine answers itself included", () => {
    const { talk, heard } = talking();
    talk.ask("Go.");
    const reply = calling("search", "fly", "search");
    expect(heard({ type: "llm.completed", effectId: "t/1.1#1", finishReason: "tool_calls", reply })).toEqual([
      { type: "model.replied", ...answer, finishReason: "tool_calls", toolCalls: 3 },
      { type: "tool.ended", turn: 1, step: 1, position: 1, name: "fly", outcome: "refused" },
    ]);
    expect(heard({ type: "tool.failed", effectId: "t/1.1.2#1", outcome: "failed", content: "no" })).toEqual([
      { type: "tool.ended", turn: 1, step: 1, position: 2, name: "search", outcome: "failed" },
    ]);
    expect(heard({ type: "cancel.requested" })).toEqual([
      { type: "tool.ended", turn: 1, step: 1, position: 0, name: "search", outcome: "interrupted" },
    ]);
  });

  test("that a call was not approved", () => {
    const { talk, heard } = talking();
    talk.ask("Go.");
    heard({ type: "llm.completed", effectId: "t/1.1#1", finishReason: "tool_calls", reply: calling("pay") });
    heard({ type: "tool.withheld", effectId: "t/1.1.0#1", because: "declared", arguments: {} });
    expect(heard({ type: "approval.answered", effectId: "t/1.1.0!approval-1", approved: false })).toEqual([
      { type: "tool.ended", turn: 1, step: 1, position: 0, name: "pay", outcome: "refused" },
    ]);
  });

  test("nothing of answers that are refused, and nothing of it is journalled", () => {
    const { talk } = talking();
    talk.ask("Go.");
    const late = { type: "llm.completed", at: 9, effectId: "t/9.1#1", finishReason: "stop", reply: {} } as const;
    expect(transition(talk.machine, talk.state, late)).toMatchObject({ handled: false, effects: [] });
    const told = transition(talk.machine, talk.state, { ...late, effectId: "t/1.1#1" });
    expect(told.handled && outcomesIn(told.effects)).toHaveLength(1);
    expect(told.handled && JSON.stringify(told.entry)).not.toContain("model.replied");
  });
});
