import type { LlmOutcome, StandardSchema } from "@colloquy/host";
import { textOf } from "@colloquy/machine";
import * as z from "zod";
import { describe, expect, expectTypeOf, test } from "vitest";
import { checkText } from "../../src/output/check.ts";
import { entriesOf, errorOf, held, journalOf, manualClock, partsOf, says, settle, stage, answered } from "../stage.ts";

const title = z.object({ title: z.string().refine((text) => text.split(" ").length <= 2, "at most 2 words") });
const schema = title;
const saying = (value: unknown): LlmOutcome => says(JSON.stringify(value));
const tooLong = saying({ title: "One two three" });
const fits = saying({ title: "One two" });

describe("an ask for an output", () => {
  test("gives the schema's typed value of the answer; the journal keeps the model's text", async () => {
    const { host, store, model } = stage({ script: [saying({ n: "7", tags: ["a"] })] });
    const counted = z.object({ n: z.string().transform(Number), tags: z.array(z.string()) });
    const result = await host.ask("Count", { output: { schema: counted, name: "count", mode: "prompted" } });
    expectTypeOf(result.output).toEqualTypeOf<{ n: number; tags: string[] }>();
    expect(result.output).toEqual({ n: 7, tags: ["a"] });
    expect(result.text).toBe('{"n":"7","tags":["a"]}');
    expect((await entriesOf(store)).at(-1)?.event).toMatchObject({ value: { n: "7", tags: ["a"] } });
    expect(model.calls[0]?.output).toMatchObject({
      name: "count",
      mode: "prompted",
      schema: { type: "object", required: ["n", "tags"] },
    });
    expect(model.calls[0]?.output?.schema).not.toHaveProperty("$schema");
  });

  test("makes the model correct an invalid answer, and shows that; the next turn does not see it", async () => {
    const { host, model, store } = stage({ script: [tooLong, fits, says("Because.")] });
    const handle = host.ask("A title?", { output: { schema, name: "title" } });
    const parts = await partsOf(handle);
    expect((await handle).output).toEqual({ title: "One two" });
    expect(parts).toContainEqual({
      type: "signal",
      signal: { type: "output.refused", turn: 1, step: 1, attempt: 1, issues: 1 },
    });
    expect(model.calls[1]?.messages.map(textOf)).toEqual([
      "A title?",
      '{"title":"One two three"}',
      'Your answer is not a valid "title":\n- "title": at most 2 words\nAnswer again with the whole corrected JSON, and nothing else.',
    ]);
    const plain = await host.ask("Why?");
    expect(plain).not.toHaveProperty("output");
    expect(model.calls[2]?.messages.map(textOf)).toEqual(["A title?", '{"title":"One two"}', "Why?"]);
    expect(await journalOf(store)).toEqual([
      ...answered,
      "output.refused",
      "llm.completed",
      "output.accepted",
      "ask.received",
      "llm.completed",
    ]);
  });

  test.each([0, 1, 2])("fails with the last text and its issues if none is valid after %i repairs", async (repairs) => {
    const { host } = stage({ script: [...Array<LlmOutcome>(repairs).fill(tooLong), says("Sorry.")] });
    const error = await errorOf(host.ask("A title?", { output: { schema, name: "title", repairs } }));
    expect(error).toMatchObject({
      name: "OutputError",
      failure: { kind: "invalid" },
      text: "Sorry.",
      issues: [{ message: expect.stringMatching(/^it is not valid JSON/) }],
      summary: { turn: 1, usage: { calls: repairs + 1 } },
      message: expect.stringMatching(/^thread "default", turn 1: the output is not valid: it is not valid JSON/),
    });
  });

  test.each([
    ["in a fence", '```json\n{"title":"One"}\n```'],
    ["in a fence without a language", '```\n{"title":"One"}```'],
    ["with white space around it", '\n {"title":"One"} \n'],
  ])("reads JSON %s", async (_, text) => {
    const { host } = stage({ script: [says(text)] });
    expect((await host.ask("?", { output: { schema, name: "title" } })).output).toEqual({ title: "One" });
  });

  test("is refused with a reason, and nothing is sent, if its options are invalid", async () => {
    const { host, store } = stage();
    const refusal = async (output: object) =>
      String(await errorOf(host.ask("?", { output: output as { schema: typeof schema; name: string } })));
    expect(await refusal({ schema, name: "a title" })).toMatch(
      /output: name must be 1 to 64 letters.* \(got "a title"\)/,
    );
    expect(await refusal({ schema: {}, name: "title" })).toMatch(
      /output: schema must be a Standard Schema .* \(got an object\)/,
    );
    expect(await refusal({ schema, name: "title", mode: "json" })).toMatch(
      /output: mode must be "native" or "tool" or "prompted" \(got "json"\)/,
    );
    expect(await refusal({ schema, name: "title", repairs: -1 })).toMatch(
      /output: repairs must be a whole number ≥ 0 \(got -1\)/,
    );
    expect(await refusal({ schema, name: "title", repair: 1 })).toMatch(/"repair"/);
    expect(await refusal(schema)).toMatch(/output is a schema by itself; give it as \{ schema, name \}/);
    expect(await refusal({ jsonSchema: {} })).toMatch(/give it as \{ schema: \{ jsonSchema \}, name \}/);
    expect(await refusal({ schema: z.object({ n: z.bigint() }), name: "n" })).toMatch(
      /output "n": its schema has no JSON Schema for the model \(BigInt.*give it one, as in withJsonSchema/,
    );
    expect(await refusal({ schema: z.object({ a: z.object({ b: z.string().optional() }) }), name: "n" })).toMatch(
      /output "n" is not what mode "native" takes: a\.b: it is optional; require it.*or use mode "tool" or "prompted"/,
    );
    expect(await store.read("default")).toEqual([]);
  });
});

/** Makes a schema with a validator of its own. */
const validating = (validate: (value: unknown) => unknown): StandardSchema<unknown, { title: string }> =>
  ({
    "~standard": {
      version: 1,
      vendor: "own",
      validate,
      jsonSchema: { input: () => ({ type: "object", properties: {} }) },
    },
    // Foreign code may return anything.
  }) as StandardSchema<unknown, { title: string }>;

describe("an invalid validator", () => {
  test.each<[string, (value: unknown) => unknown, RegExp]>([
    ["throws", () => { throw new Error("broken"); }, /the validator threw: broken/], // prettier-ignore
    ["rejects", () => Promise.reject(new Error("broken")), /the validator threw: broken/],
    ["answers nothing", () => undefined, /answered what is no result/],
    ["answers neither", () => ({}), /answered neither a value nor issues/],
    ["answers issues that are none", () => ({ issues: "bad" }), /answered issues that are no list/],
  ])("that %s fails the turn with a reason, and the model is not asked again", async (_, validate, words) => {
    const { host, model } = stage({ script: [fits] });
    const error = await errorOf(host.ask("?", { output: { schema: validating(validate), name: "title" } }));
    expect(error).toMatchObject({
      name: "OutputError",
      failure: { kind: "unchecked", message: expect.stringMatching(words) },
    });
    expect(model.calls).toHaveLength(1);
  });

  test("that hangs fails the turn in time", async () => {
    const { host, clock } = stage({ script: [fits] });
    const error = errorOf(
      host.ask("?", { output: { schema: validating(() => new Promise(() => {})), name: "title" } }),
    );
    await clock.advance(30_000);
    expect(String(await error)).toMatch(/could not be checked: the validator did not answer within 30000 ms/);
  });

  test("that hangs is let go when the turn is cancelled", async () => {
    const { host, clock } = stage({ script: [fits] });
    const ask = host.ask("?", { output: { schema: validating(() => new Promise(() => {})), name: "title" } });
    const error = errorOf(ask);
    await settle();
    ask.abort("enough");
    expect(await error).toMatchObject({ name: "TurnCancelledError", summary: { text: '{"title":"One two"}' } });
    await clock.advance(60_000);
  });

  test("a validator that answers after the turn was cancelled does not keep the thread open", async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const { host, clock } = stage({ idleMs: 1_000, script: [fits] });
    const ask = host.ask("?", { output: { schema: validating(() => promise), name: "title" } });
    const error = errorOf(ask);
    await settle();
    ask.abort("enough");
    expect(await error).toMatchObject({ name: "TurnCancelledError" });
    await clock.advance(500);
    resolve({ value: {} });
    await clock.advance(500);
    expect(clock.sleepers).toBe(0);
  });

  test("that writes into its input changes neither the journal nor others' values", async () => {
    const { host, store } = stage({ script: [fits] });
    const scribbling = validating((value) => ({ value: Object.assign(value as object, { title: "scribbled" }) }));
    const handle = host.ask("?", { output: { schema: scribbling, name: "title" } });
    expect((await handle).output).toEqual({ title: "scribbled" });
    expect((await entriesOf(store)).at(-1)?.event).toMatchObject({ value: { title: "One two" } });
  });

  test("that has a lot to say is journalled in part", async () => {
    const issues = Array.from({ length: 50 }, (_, place) => ({
      message: "x".repeat(1_000),
      path: [{ key: place }, Symbol("s")],
    }));
    const { host, store } = stage({ script: [fits] });
    const schemaOfMany = validating(() => ({ issues }));
    await errorOf(host.ask("?", { output: { schema: schemaOfMany, name: "title", repairs: 0 } }));
    const { event } = (await entriesOf(store)).at(-1) ?? {};
    expect(JSON.stringify(event).length).toBeLessThan(12_000);
    expect(event).toMatchObject({ issues: expect.arrayContaining([{ message: "and 30 more" }]) });
  });
});

describe("an output that was checked elsewhere", () => {
  test("after a crash it is checked by the schema in the journal, and by that of a repeated ask", async () => {
    const hanging = validating(() => new Promise(() => {}));
    const first = stage({ owner: "same", whenHeld: "reject", script: [tooLong] });
    first.host.ask("?", { askId: "a", output: { schema: hanging, name: "title" } }).catch(() => {});
    await settle();
    const next = first.another();
    await next.host.thread().resume();
    await settle();
    expect((await journalOf(first.store)).slice(-2)).toEqual(["llm.completed", "output.accepted"]);
    const again = next.host.ask("?", { askId: "a", output: { schema, name: "title" } });
    expect(await errorOf(again)).toMatchObject({ name: "OutputError", issues: [{ message: "at most 2 words" }] });
  });

  test("after a crash an ask repeated in time has it checked by its own schema", async () => {
    const first = stage({ owner: "same", whenHeld: "reject", script: [tooLong] });
    const { vendor, jsonSchema } = title["~standard"];
    const validate = (): Promise<never> => new Promise(() => {});
    const hanging: StandardSchema = { "~standard": { version: 1, vendor, jsonSchema, validate } };
    first.host.ask("?", { askId: "a", output: { schema: hanging, name: "title" } }).catch(() => {});
    await settle();
    const next = first.another({ script: [fits] });
    const again = next.host.ask("?", { askId: "a", output: { schema, name: "title" } });
    expect((await again).output).toEqual({ title: "One two" });
    expect(await journalOf(first.store)).toContain("output.refused");
  });

  test("by the host that holds the thread it reaches the one that asked, validated here", async () => {
    const call = held();
    const first = stage({ script: [call.step, fits] });
    const busy = first.host.ask("Hello");
    await settle();
    const other = first.another({ script: [] });
    const asked = other.host.ask("A title?", { overlap: "queue", output: { schema, name: "title" } });
    await first.clock.advance(1_000);
    call.answer(says("Hi."));
    await first.clock.advance(1_000);
    await busy;
    expect((await asked).output).toEqual({ title: "One two" });
  });
});

test.each<readonly [string, string | RegExp]>([
  ["{", /^it is not valid JSON \(/],
  [`${"[".repeat(300)}${"]".repeat(300)}`, /nested too deep/],
])("checkText rejects invalid or too deeply nested JSON under any schema: %#", async (text, message) => {
  const jsonSchema = {};
  for (const schema of [null, z.unknown()])
    expect(await checkText(text, { schema, jsonSchema }, manualClock())).toEqual({
      type: "invalid",
      issues: [{ message: expect.stringMatching(message) }],
    });
});
