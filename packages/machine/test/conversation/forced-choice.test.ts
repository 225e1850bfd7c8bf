import { expect, test } from "vitest";
import { CheckedTalk } from "../checked-talk.ts";
import { calling } from "../talk.ts";

const forced = [
  { tool_choice: "required" },
  { tool_choice: "any" },
  { toolChoice: "required" },
  { function_call: { name: "search" } },
  { tool_choice: { type: "function", function: { name: "search" } } },
  { tool_choice: { type: "tool", name: "search" } },
  { tool_choice: { type: "any" } },
  { tool_choice: { type: "allowed_tools", mode: "required", tools: [] } },
  { tool_choice: { type: "allowed_tools", allowed_tools: { mode: "required", tools: [] } } },
];

const free = [
  {},
  { tool_choice: "auto" },
  { tool_choice: "none" },
  { function_call: "auto" },
  { tool_choice: null },
  { tool_choice: { type: "auto", disable_parallel_tool_use: true } },
  { tool_choice: { type: "allowed_tools", mode: "auto", tools: [] } },
];

/** The parameters of a turn's first call, of its second attempt, and of the second step's. */
const sent = (model: object): readonly unknown[] => {
  const talk = new CheckedTalk({ tools: [{ name: "search" }], model: { ...model, temperature: 0 } });
  talk.ask("Go.");
  const parameters: unknown[] = [talk.call().model];
  talk.fail({ retryable: true });
  talk.fire("retry");
  parameters.push(talk.call().model);
  talk.reply(calling("search"));
  talk.result(0, "found");
  return [...parameters, talk.call().model];
};

test.each(forced)("a forced choice holds for the first step of a turn only: %j", (model) => {
  expect(sent(model)).toEqual([{ ...model, temperature: 0 }, { ...model, temperature: 0 }, { temperature: 0 }]);
});

test.each(free)("a choice that leaves the model free holds for all steps: %j", (model) => {
  const all = { ...model, temperature: 0 };
  expect(sent(model)).toEqual([all, all, all]);
});

test("a forced choice holds again for the next turn", () => {
  const talk = new CheckedTalk({ tools: [{ name: "search" }], model: { tool_choice: "required" } });
  talk.ask("Go.");
  talk.reply("No.");
  talk.ask("Go!");
  expect(talk.call().model).toEqual({ tool_choice: "required" });
});
