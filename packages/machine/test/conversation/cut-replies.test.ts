import { describe, expect, test } from "vitest";
import { lastTurnOf, outstanding, textOf } from "../../src/index.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { calling } from "../talk.ts";

// A model that was cut off may not have finished a call: nothing of such a reply runs.

const options = { tools: [{ name: "wipe" }, { name: "pay", approval: "always" as const }] };

const asked = (): CheckedTalk => {
  const talk = new CheckedTalk(options);
  talk.ask("Delete the folder.");
  return talk;
};

describe("a reply that was cut off", () => {
  test.each([
    "length",
    "content_filter",
    "content-filter",
    "max_tokens",
    "MAX_TOKENS",
    "incomplete",
    "model_length",
    "contentFilter",
    "sensitive",
    "network_error",
    "repetition_truncation",
    "context_window_exceeded",
    "timeout",
    "ERROR_TOXIC",
    "ERROR_LIMIT",
    "USER_CANCEL",
    "MALFORMED_RESPONSE",
    "TOO_MANY_TOOL_CALLS",
    "engine_overloaded",
  ])("runs no tool where its finish reason is %s, and the model reads why", (finishReason) => {
    const talk = asked();
    talk.reply(calling("wipe", "pay", "nobody's"), { finishReason });
    const results = talk.call().messages.slice(-3);
    expect(results.map(({ role }) => role)).toEqual(["tool", "tool", "tool"]);
    for (const result of results)
      expect(textOf(result)).toContain(`cut off before the call was complete (${finishReason})`);
    talk.reply("I will say it in parts.");
    expect(lastTurnOf(talk.state)?.outcome.status).toBe("completed");
    talk.replays();
  });

  test("asks the caller of no tool either", () => {
    const talk = new CheckedTalk();
    talk.tell({ type: "ask.received", askId: "a", input: "Go.", tools: [{ name: "theirs" }] });
    talk.reply(calling("theirs"), { finishReason: "length" });
    expect(outstanding(talk.state).map(({ type }) => type)).toEqual(["callLlm"]);
  });

  test("counts as a step, so a model that is always cut off comes to an end", () => {
    const talk = new CheckedTalk({ ...options, limits: { steps: 3 } });
    talk.ask("Go.");
    for (let step = 1; step <= 3; step++) talk.reply(calling("wipe"), { finishReason: "length" });
    expect(lastTurnOf(talk.state)?.outcome).toMatchObject({ limit: { limit: "steps", allowed: 3 } });
  });
});

test.each([
  "tool_calls",
  "stop",
  "end_turn",
  "stop_sequence",
  "function_call",
  "eos_token",
  "COMPLETE",
  "other",
  "",
  null,
])("a call without arguments runs where the finish reason is %s", (finishReason) => {
  const talk = asked();
  talk.reply({ toolCalls: [{ id: "a", name: "wipe", arguments: "" }] }, { finishReason });
  expect(talk.out()).toMatchObject([{ type: "callTool", name: "wipe", arguments: "" }]);
});
