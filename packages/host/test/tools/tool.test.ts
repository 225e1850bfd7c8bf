import { conversationMachine, type JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { expect, expectTypeOf, test } from "vitest";
import * as mini from "zod/mini";
import { createHost, declarationsOf, memoryStore, type StandardSchema, tool, withJsonSchema } from "@colloquy/host";
import { wantedOutput } from "../../src/output/expected.ts";
import { readCallerTools } from "../../src/tools/tool.ts";
import { manualClock } from "../stage.ts";

const schemaOf = <Output>(jsonSchema?: Record<string, unknown>): StandardSchema<unknown, Output> => ({
  "~standard": {
    version: 1,
    vendor: "test",
    // The tests never validate with it.
    validate: (value) => ({ value: value as Output }),
    ...(jsonSchema === undefined ? {} : { jsonSchema: { input: () => jsonSchema } }),
  },
});

test("a tool says its schema to the model by itself, without what says nothing to a model", () => {
  const input = schemaOf<{ city: string }>({
    $schema: "draft",
    type: "object",
    properties: { city: { type: "string" } },
  });
  const weather = tool({
    name: "weather",
    description: "The weather.",
    input,
    timeoutMs: 5,
    recovery: "rerun",
    run: (given) => {
      expectTypeOf(given).toEqualTypeOf<{ city: string }>();
    },
  });
  expect(declarationsOf([weather])).toEqual([
    {
      name: "weather",
      description: "The weather.",
      parameters: { type: "object", properties: { city: { type: "string" } } },
      timeoutMs: 5,
      recovery: "rerun",
    },
  ]);
});

test("a schema without a JSON Schema is refused until it is given one", () => {
  const definition = { name: "t", description: "", input: schemaOf(), run: () => null };
  expect(() => tool(definition)).toThrow(/tool "t": this schema of test has no JSON Schema for the model; give it one/);
  const made = tool({ ...definition, input: withJsonSchema(schemaOf(), { type: "object" }) });
  expect(made.declaration.parameters).toEqual({ type: "object" });
});

test("the error for a schema of zod without a JSON Schema says which have one", () => {
  const input = mini.object({ city: mini.string() });
  const advice =
    'this schema of zod has no JSON Schema for the model; take zod 4.2.0 or newer, and its schemas from "zod", not from "zod/mini" or "zod/v3"; or give it one, as in withJsonSchema(schema, { type: "object", … })';
  const definition = { name: "t", description: "", input, run: () => null };
  expect(() => tool(definition)).toThrow(`tool "t": ${advice}`);
  expect(readCallerTools([{ name: "t", input }])).toEqual(Either.left(`tools.0: tool "t": ${advice}`));
  expect(wantedOutput({ name: "o", schema: input })).toEqual(Either.left(`output "o": ${advice}`));
});

test.each([
  [{ name: "" }, /name/],
  [{ timeoutMs: 0 }, /tool "t": timeoutMs must be a whole number ≥ 1 \(got 0\)/],
  [{ timeoutMs: Number.NaN }, /timeoutMs must be .* \(got NaN\)/],
  [{ concurrency: 1.5 }, /concurrency must be .* \(got 1\.5\)/],
  // A caller in JavaScript may pass this.
  [
    { input: { jsonSchema: true as unknown as JsonObject } },
    /input must be the schema of an object, .* \(its type is true\)/,
  ],
  [{ recovery: "never" as "once" }, /recovery must be "rerun" or .* or "ask" \(got "never"\)/],
  [{ version: 2 as unknown as string }, /version must be a text \(got 2\)/],
  [{ approval: "sometimes" as "always" }, /approval must be "always" or a function \(got "sometimes"\)/],
])("%j is invalid", (wrong, words) => {
  const definition = { name: "t", description: "", input: { jsonSchema: {} }, run: () => null };
  expect(() => tool({ ...definition, ...wrong })).toThrow(words);
});

test("a host has a function for each tool that its machine declares, of the same version, and no others", () => {
  const clock = manualClock();
  const made = (name: string, version?: string) =>
    tool({
      name,
      description: "",
      input: { jsonSchema: {} },
      run: () => null,
      ...(version === undefined ? {} : { version }),
    });
  const hostWith = (declared: readonly ReturnType<typeof made>[], given: readonly ReturnType<typeof made>[]) => () =>
    createHost({
      clock,
      store: memoryStore({ clock }),
      ids: { draw: (kind) => kind },
      llm: () => Promise.reject(new Error("unused")),
      machine: conversationMachine({ tools: declarationsOf(declared) }),
      tools: given,
    });
  expect(hostWith([made("a")], [])).toThrow(/declares the tool "a", and the host has no function/);
  expect(hostWith([made("a", "2")], [made("a", "1")])).toThrow(
    /declares version of the tool "a" as "2", and the host has "1"/,
  );
  expect(hostWith([], [made("a")])).toThrow(/the host has the tool "a", and the machine does not declare it/);
  expect(hostWith([made("a")], [made("a"), made("a")])).toThrow(/two tools of the name "a"/);
  const asking = tool({ name: "a", description: "", input: { jsonSchema: {} }, run: () => null, approval: "always" });
  expect(hostWith([made("a")], [asking])).toThrow(/approval of the tool "a" as \(none\), and the host has "always"/);
  expect(hostWith([asking], [asking])).not.toThrow();
  expect(hostWith([made("a")], [made("a")])).not.toThrow();
  // A caller in JavaScript may pass these.
  expect(hostWith([], 7 as never)).toThrow("tools must be a list, such as [tool({ name, … }), …]");
  expect(hostWith([], [{ name: "a" }] as never)).toThrow("tools.0 is none that tool({ name, … }) made");
});
