import { textOf } from "@colloquy/machine";
import { expect, test } from "vitest";
import { problemsOf } from "./agent-files.ts";
import { hostOf, passing } from "./agents.ts";

const forecast = `name: forecast
compression: none
signature:
  inputs: { city: string, days: integer }
  outputs: { sky: { type: string, enum: [clear, grey] } }
`;

/** Makes a model that gives these answers in order, and records their prompts. */
const saying = (...answers: readonly string[]): { readonly llm: typeof passing; readonly prompts: string[] } => {
  const prompts: string[] = [];
  const left = [...answers];
  const llm: typeof passing = async ({ messages }) => {
    prompts.push(messages.map(textOf).join("\\n"));
    return { type: "completed", reply: { content: left.shift() ?? "" }, finishReason: "stop" };
  };
  return { llm, prompts };
};

test("the inputs of a signature are asked as data, and its outputs are checked and mended", async () => {
  const { llm, prompts } = saying('{"sky":"blue"}', '{"sky":"clear"}');
  const { host } = await hostOf({ "agent.yaml": forecast }, { llm });
  const { output } = await host.run({ city: "Oslo", days: 2 }, { threadId: "t" });
  expect(output).toEqual({ sky: "clear" });
  expect(prompts).toHaveLength(2);
  const state = await host.thread("t").state();
  const asked = state === null ? undefined : state.context.conversation.turns;
  expect(JSON.stringify(asked)).toContain(
    '{"type":"data","field":"city","value":"Oslo"},{"type":"data","field":"days","value":2}',
  );
});

test("inputs that do not fit are refused, and so are those of an agent without a signature", async () => {
  const { host } = await hostOf({ "agent.yaml": forecast });
  expect(() => host.run({ city: "Oslo", days: 1.5, sky: "" })).toThrow(
    'agent "forecast": the inputs do not fit its signature: "days": expected integer, received number; "sky": not expected here',
  );
  const { host: plain } = await hostOf({ "agent.yaml": "name: a" });
  expect(() => plain.run({ city: "Oslo" })).toThrow('agent "a" has no signature: ask it a text');
});

/** A schema in which each definition refers to the next twice, down to a pattern that backtracks. */
const hostileField = {
  $ref: "#/properties/q/$defs/0",
  $defs: Object.fromEntries(
    Array.from({ length: 33 }, (_, at) => {
      const next = { $ref: `#/properties/q/$defs/${at + 1}` };
      return [String(at), at === 32 ? { type: "string", pattern: "^(a+)+$" } : { allOf: [next, next] }];
    }),
  ),
};

test("a hostile schema in a signature is checked in linear time, of inputs and of outputs", async () => {
  const text = `${"a".repeat(1_000)}!`;
  const { llm, prompts } = saying(JSON.stringify({ q: text }), '{"q":"aaa"}');
  const signature = { inputs: { q: hostileField }, outputs: { q: hostileField } };
  const { host } = await hostOf(
    { "agent.yaml": JSON.stringify({ name: "a", compression: "none", signature }) },
    { llm },
  );
  expect(() => host.run({ q: text })).toThrow('the inputs do not fit its signature: "q": expected to match ^(a+)+$');
  expect((await host.run({ q: "a" })).output).toEqual({ q: "aaa" });
  expect(prompts).toHaveLength(2);
});

test("a file is refused whose signature has a pattern that cannot be matched in linear time", async () => {
  const signature = { inputs: { q: { type: "string", pattern: "(a)\\1" } }, outputs: { a: "string" } };
  const problems = await problemsOf({ "agent.yaml": JSON.stringify({ name: "a", signature }) });
  expect(problems.join("")).toContain('pattern "(a)\\\\1": a reference back to a group is not supported');
});
