import { OutputError, tool } from "@colloquy/host";
import { ConfigurationError, textOf } from "@colloquy/machine";
import { reply, scriptedModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import { describe, expect, expectTypeOf, onTestFinished, test } from "vitest";
import * as z from "zod";
import { predict, react, session, type Session } from "../../src/index.ts";

const inputs = z.object({ question: z.string().trim(), context: z.string().optional() });
const outputs = z.object({ answer: z.string(), sure: z.boolean() });

/** Closes a session when its test ends. Returns it. */
const closing = <Each extends Pick<Session<object, object, object, object>, "close">>(made: Each): Each => {
  onTestFinished(() => made.close());
  return made;
};

const saying = (value: object) => reply(JSON.stringify(value));
const [first, second] = [
  { answer: "A line.", sure: true },
  { answer: "A pile.", sure: false },
];

describe("a program that is a signature alone", () => {
  test("asks the model with the memory before the inputs, and gives what was validated, typed by its schemas", async () => {
    const llm = scriptedModel([saying(first), saying(second)]);
    const program = predict({ inputs, outputs, instructions: "Be short." });
    const qa = closing(session(program, { name: "qa", llm }));
    const answer = await qa.call({ question: " What is a queue?" });
    expectTypeOf(answer).toEqualTypeOf<{ answer: string; sure: boolean }>();
    expectTypeOf<Parameters<typeof program>[0]>().toEqualTypeOf<{ question: string; context?: string | undefined }>();
    expect(answer).toEqual(first);
    await qa.call({ question: "And a stack?" });
    expect(llm.calls.map(({ messages }) => messages.map(({ role, parts }) => ({ role, parts })))[1]).toEqual([
      { role: "system", parts: [{ type: "text", text: "Be short." }] },
      { role: "user", parts: [{ type: "data", field: "question", value: " What is a queue?" }] },
      { role: "assistant", parts: [{ type: "text", text: JSON.stringify(first) }] },
      { role: "user", parts: [{ type: "data", field: "question", value: "And a stack?" }] },
    ]);
    expect(llm.calls[0]?.messages.at(-1)?.parts).toEqual([
      { type: "data", field: "question", value: "What is a queue?" },
    ]);
  });

  test("predict sends the model all content parts of earlier turns, also of turns that were added", async () => {
    const llm = scriptedModel([saying(first)]);
    const qa = closing(session(predict({ inputs, outputs }), { name: "qa", llm }));
    const content = [
      { type: "text", text: "Look:" },
      { type: "data", field: "n", value: 1 },
      { type: "image", url: "https://example.org/a.png" },
      { type: "opaque", value: { type: "input_audio" } },
    ] as const;
    await qa.checkpoint("begun");
    await qa.thread.addTurn([
      { role: "user", content },
      { role: "assistant", content: "Nice." },
    ]);
    await qa.call({ question: "Q" });
    expect(llm.calls[0]?.messages.slice(1, 3).map(({ parts }) => parts)).toEqual([
      content,
      [{ type: "text", text: "Nice." }],
    ]);
  });

  test("shows outputs as a model writes them, as partial parts of the call", async () => {
    const llm = scriptedModel([streams(['{"answer": "A li', 'ne.", "su', 're": true}'])]);
    const qa = closing(session(predict({ inputs, outputs }), { name: "qa", llm }));
    const call = qa.call({ question: "Q" });
    const partials: object[] = [];
    const nested: string[] = [];
    for await (const part of call) {
      if (part.type === "partial") partials.push(part.outputs);
      if (part.type === "nested") nested.push(part.part.type);
    }
    // The reader of the call gets all inner parts, even if the program reads them too.
    expect(nested).toEqual(expect.arrayContaining(["text.delta", "output.partial", "turn.ended"]));
    expect(partials.length).toBeGreaterThan(0);
    for (const partial of partials)
      expect(Object.keys(await call)).toEqual(expect.arrayContaining(Object.keys(partial)));
  });

  test.each([
    { given: { inputs }, says: 'predict needs the option "outputs", and it is missing' },
    { given: { inputs, outputs, instruction: "Be short." }, says: 'predict has no option "instruction"' },
    {
      given: { inputs, outputs, limits: { steps: -1 } },
      says: "predict: limits must be an object of limits, each a whole number ≥ 0",
    },
    { given: { inputs, outputs, limits: 2 }, says: "predict: limits must be an object of limits" },
    { given: { inputs, outputs, repairs: -1 }, says: "predict: repairs must be a whole number ≥ 0 (got -1)" },
    {
      given: { inputs, outputs: { answer: "string" } },
      says: "predict: outputs must be a Standard Schema of an object",
    },
    {
      given: "question -> answer",
      says: "predict is given a value of type string; it takes an object of inputs, outputs",
    },
  ])("refuses options that it can't go by: $says", ({ given, says }) => {
    // Cast: a caller in JavaScript could pass this.
    expect(() => predict(given as { inputs: typeof inputs; outputs: typeof outputs })).toThrow(says);
  });

  test("predict accepts a limit of 0 steps, and its calls then fail", async () => {
    const limits = { steps: 0, outputTokens: undefined };
    const qa = closing(session(predict({ inputs, outputs, limits }), { name: "qa", llm: scriptedModel([]) }));
    await expect(qa.call({ question: "Q" })).rejects.toThrow(/steps/);
  });

  test("predict asks for a repair of invalid outputs as often as `repairs` says, by default twice", async () => {
    for (const { given, calls } of [
      { given: {}, calls: 3 },
      { given: { repairs: 0 }, calls: 1 },
    ]) {
      const llm = scriptedModel(Array.from({ length: calls }, () => saying({ wrong: true })));
      const qa = closing(session(predict({ inputs, outputs, ...given }), { name: "qa", llm }));
      await expect(qa.call({ question: "Q" })).rejects.toThrow(OutputError);
      expect(llm.calls).toHaveLength(calls);
    }
  });

  test("refuses to use no tools", () => {
    // Cast: a caller in JavaScript could pass this.
    const given: object = { inputs, outputs };
    expect(() => react(given as { inputs: typeof inputs; outputs: typeof outputs; tools: [] })).toThrow(
      'react needs the option "tools", and it is missing',
    );
  });

  test("says when it is made which schema the mode does not take", () => {
    const optional = z.object({ answer: z.string().optional() });
    expect(() => predict({ inputs, outputs: optional })).toThrow(ConfigurationError);
    expect(() => predict({ inputs, outputs: optional })).toThrow(
      /^predict: outputs at "answer": it is optional; .*; or use mode "tool" or "prompted"$/u,
    );
    const record = z.record(z.string(), z.string());
    expect(() => predict({ inputs, outputs: record })).toThrow(/^predict: outputs: it is a record/u);
    expect(() => predict({ inputs, outputs: optional, mode: "prompted" })).not.toThrow();
  });

  test("with what describes the outputs, and what was consolidated, in their places", async () => {
    const llm = scriptedModel([saying(first), saying(second)]);
    const describeLine = () => "It was about lines.";
    const qa = closing(session(predict({ inputs, outputs }), { name: "qa", llm, describe: describeLine }));
    await qa.call({ question: "Q1" });
    await qa.call({ question: "Q2" });
    expect(llm.calls[1]?.messages.map(textOf)).toEqual([
      "Answer with the outputs, as JSON.",
      "",
      "It was about lines.",
      "",
    ]);
  });

  test("with tools: uses them step by step, in a thread of its own, and what was used is shown to the next call", async () => {
    const search = tool({
      name: "search",
      description: "Searches.",
      input: z.object({ query: z.string() }),
      run: ({ query }) => `Result for ${query}`,
    });
    const llm = scriptedModel([
      toolCalls([{ name: "search", arguments: { query: "queue" } }]),
      saying(first),
      saying(second),
    ]);
    const qa = closing(session(react({ inputs, outputs, tools: [search] }), { name: "qa", llm }));
    expect(await qa.call({ question: "Q1" })).toEqual(first);
    await qa.call({ question: "Q2" });
    expect(llm.calls[2]?.messages.map(textOf).at(-2)).toMatch(/^Tools used: search.*Result for queue/u);
    expect((await qa.trace(1))?.calls).toMatchObject([{ name: "react", status: "completed" }]);
  });

  test("with tools: as many steps as are allowed, ten where nothing else is said", async () => {
    const again = tool({ name: "again", description: "Again.", input: z.object({}), run: () => "again" });
    const forever = () =>
      scriptedModel(Array.from({ length: 12 }, () => toolCalls([{ name: "again", arguments: {} }])));
    for (const { limits, steps } of [
      { limits: {}, steps: 10 },
      { limits: { steps: 2 }, steps: 2 },
    ]) {
      const llm = forever();
      const qa = closing(session(react({ inputs, outputs, tools: [again], limits }), { name: "qa", llm }));
      await expect(qa.call({ question: "Q" })).rejects.toThrow(/steps/u);
      expect(llm.calls).toHaveLength(steps);
    }
  });
});

test("a program that does not fit its signature is a compile error", () => {
  const fitting = { name: "qa", signature: { inputs, outputs } };
  closing(session(({ question }) => ({ answer: question, sure: true }), fitting));
  // @ts-expect-error -- it gives no `sure`
  closing(session(({ question }) => ({ answer: question }), fitting));
  // @ts-expect-error -- the inputs have no `topic`
  closing(session(({ topic }) => ({ answer: topic, sure: true }), fitting));
});
