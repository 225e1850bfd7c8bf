import { describe, expect, it } from "vitest";
import { type Rule, ruleModel, toolCalls, viewPrompt } from "../../src/models/index.ts";
import { virtualClock } from "../../src/ports/virtual-clock.ts";
import { callOf, hear, messagesOf, unheard } from "./call.ts";

const rules: readonly Rule[] = [
  {
    name: "result",
    when: ({ toolResults }) => toolResults.length > 0,
    answer: ({ toolResults }) => `The tool says ${toolResults.map(({ text }) => text).join(" and ")}.`,
  },
  {
    name: "roll",
    when: ({ mentions }) => mentions("DICE"),
    answer: () =>
      toolCalls([
        { name: "roll", arguments: { sides: 6 } },
        { name: "roll", arguments: { sides: 6 } },
      ]),
  },
  {
    name: "echo",
    when: ({ lastUserText }) => lastUserText !== "",
    answer: ({ lastUserText }) => `You said ${lastUserText}.`,
  },
];

describe("ruleModel", () => {
  it("takes the first rule that applies, and reports a counter's usage", async () => {
    const { outcome } = await hear(ruleModel(rules), callOf("hello"));
    expect(outcome).toEqual({
      type: "completed",
      reply: { content: "You said hello." },
      finishReason: "stop",
      // ceil(5 / 4) + 4 a message + 3 a prompt; ceil(15 / 4)
      usage: { inputTokens: 9, outputTokens: 4, totalTokens: 13 },
    });
  });

  it("gives calls ids that no call in the prompt has, the same for the same prompt", async () => {
    const model = ruleModel(rules);
    const earlier = callOf([
      { role: "user", content: "dice" },
      { role: "assistant", toolCalls: [{ id: "call_1", name: "roll", arguments: "{}" }] },
      { role: "tool", toolCallId: "call_1", content: "4" },
      { role: "assistant", content: "The tool says 4." },
      { role: "user", content: "again" },
    ]);
    const { outcome } = await hear(model, earlier);
    expect(outcome).toMatchObject({ reply: { toolCalls: [{ id: "call_2" }, { id: "call_3" }] } });
    expect((await hear(model, earlier)).outcome).toEqual(outcome);
  });

  it("lists the rules when none applies", async () => {
    await expect(ruleModel(rules)(callOf(""), unheard(virtualClock()))).rejects.toThrow(
      'whose newest user message is "". Rules, in order: result, roll, echo.',
    );
  });
});

describe("viewPrompt", () => {
  it("shows the results since the newest user message, with the calls that they answer", () => {
    const view = viewPrompt(
      messagesOf([
        { role: "developer", content: "Be kind." },
        { role: "user", content: "One" },
        { role: "assistant", toolCalls: [{ id: "a", name: "first", arguments: "{}" }] },
        { role: "tool", toolCallId: "a", content: "old" },
        { role: "user", content: "Two" },
        {
          role: "assistant",
          content: "Wait.",
          toolCalls: [
            { id: "a", name: "second", arguments: '{"x":1}' },
            { id: "b", name: "third", arguments: "not JSON" },
          ],
        },
        { role: "tool", toolCallId: "b", content: "no" },
        { role: "tool", toolCallId: "a", content: '{"y":2}' },
      ]),
    );
    expect(view).toMatchObject({ system: "Be kind.", lastUserText: "Two" });
    expect(view.last?.role).toBe("tool");
    expect(view.toolCalls.map(({ name }) => name)).toEqual(["first", "second", "third"]);
    expect(view.toolResults).toEqual([
      { call: { name: "second", arguments: '{"x":1}', input: { x: 1 } }, text: '{"y":2}', value: { y: 2 } },
      { call: { name: "third", arguments: "not JSON", input: undefined }, text: "no", value: undefined },
    ]);
    expect([view.mentions("one"), view.mentions(/TWO/), view.mentions("wait")]).toEqual([true, false, false]);
  });

  it("shows data by their fields, a line each, and a text alone to the letter", () => {
    const view = viewPrompt(
      messagesOf([
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "text", text: "b" },
          ],
        },
        { role: "assistant", toolCalls: [{ id: "a", name: "find", arguments: "{}" }] },
        { role: "tool", toolCallId: "a", content: [{ type: "data", field: "found", value: null }] },
        {
          role: "user",
          content: [
            { type: "data", field: "question", value: 'What is "it"?' },
            { type: "text", text: "Please." },
            { type: "data", field: "context", value: { most: 3 } },
          ],
        },
      ]),
    );
    expect(view.messages.map(({ text }) => text)).toEqual([
      "ab",
      "",
      "found: null",
      'question: What is "it"?\nPlease.\ncontext: {"most":3}',
    ]);
    expect(view.lastUserText).toBe(view.last?.text);
    expect([view.mentions("context"), view.mentions(/most.:3/), view.mentions("found")]).toEqual([true, true, false]);
  });

  it("is empty for an empty prompt", () => {
    expect(viewPrompt([])).toMatchObject({
      messages: [],
      system: "",
      lastUserText: "",
      last: undefined,
      toolResults: [],
    });
  });
});
