import { type StandardSchema, tool, withJsonSchema } from "@colloquy/host";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { toJsonSchema, toStandardJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import * as z3 from "zod/v3";
import { predict, react, session } from "../src/index.ts";

interface City {
  readonly city: string;
}

const city = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};

/** A schema like arktype's: a function that can convert itself to JSON Schema. */
const callable: StandardSchema<City> = Object.assign(() => null, {
  "~standard": {
    version: 1,
    vendor: "arktype",
    validate: (value: unknown) => v.strictObject({ city: v.string() })["~standard"].validate(value),
    jsonSchema: { input: () => city, output: () => city },
  } as const,
});

/** A schema of a vendor with only the standard, which validates asynchronously. */
const bare: StandardSchema<City> = {
  "~standard": {
    version: 1,
    vendor: "bare",
    validate: async (value) => v.strictObject({ city: v.string() })["~standard"].validate(value),
  },
};

/** The same schema of each vendor. */
const schemas: readonly (readonly [vendor: string, schema: StandardSchema<City>])[] = [
  ["zod", z.object({ city: z.string() })],
  [
    "zod/mini",
    withJsonSchema(mini.object({ city: mini.string() }), z.toJSONSchema(mini.object({ city: mini.string() }))),
  ],
  ["zod/v3", withJsonSchema(z3.object({ city: z3.string() }), city)],
  ["valibot", toStandardJsonSchema(v.object({ city: v.string() }))],
  [
    "valibot, with a JSON Schema of its own",
    withJsonSchema(v.object({ city: v.string() }), toJsonSchema(v.object({ city: v.string() }))),
  ],
  ["arktype", callable],
  ["another vendor", withJsonSchema(bare, city)],
];

const oslo = JSON.stringify({ city: "Oslo" });

test.each(schemas)("a schema of %s is taken for tools, outputs, signatures and programs", async (_, schema) => {
  const ran: string[] = [];
  const cities = tool({
    name: "cities",
    description: "",
    input: schema,
    run: (given) => ran.push(given.city),
  });
  const called = toolCalls([{ id: "1", name: "cities", arguments: oslo }]);
  const host = createHost({
    store: memoryStore(),
    tools: [cities],
    llm: scriptedModel([called, reply("done"), reply(oslo), reply("{}"), reply(oslo), reply("as asked")]),
  });
  await host.ask("Which city?", { threadId: "tool" });
  for (const mode of ["native", "prompted"] as const) {
    const { output } = await host.ask("Which city?", { threadId: mode, output: { schema, name: "city", mode } });
    expect(output).toEqual({ city: "Oslo" });
  }
  const theirs = { name: "theirs", input: schema };
  expect((await host.ask("Which city?", { threadId: "caller", tools: [theirs] })).text).toBe("as asked");
  await host.close();
  expect(ran[0]).toBe("Oslo");

  const llm = scriptedModel([reply(oslo), reply(oslo)]);
  const signed = session((given: City) => given, { name: "signed", signature: { inputs: schema, outputs: schema } });
  const predicting = session(predict({ inputs: schema, outputs: schema }), { name: "predicting", llm });
  const reacting = session(react({ inputs: schema, outputs: schema, tools: [] }), { name: "reacting", llm });
  for (const qa of [signed, predicting, reacting]) {
    expect(await qa.call({ city: "Oslo" })).toEqual({ city: "Oslo" });
    await expect(qa.call(Object({ city: 7 }))).rejects.toThrow(/do not fit/);
    await qa.close();
  }
});

test("a schema of valibot without a JSON Schema is refused with the way to one", () => {
  const input = v.object({ city: v.string() });
  expect(() => tool({ name: "t", description: "", input, run: () => null })).toThrow(
    'tool "t": this schema of valibot has no JSON Schema for the model; wrap it in toStandardJsonSchema of @valibot/to-json-schema; or give it one, as in withJsonSchema(schema, { type: "object", … })',
  );
});

test("the types of valibot's schemas are those of the arguments, inputs and outputs", () => {
  const schema = v.object({ city: v.pipe(v.string(), v.transform(Number)) });
  const signed = session(({ city: given }) => ({ city: String(given) }), {
    name: "typed",
    signature: { inputs: schema, outputs: schema },
  });
  expectTypeOf<Parameters<(typeof signed)["call"]>[0]>().toEqualTypeOf<{ city: string }>();
  expectTypeOf<Awaited<ReturnType<(typeof signed)["call"]>>>().toEqualTypeOf<{ city: number }>();
  tool({
    name: "t",
    description: "",
    input: withJsonSchema(schema, city),
    run: (given) => expectTypeOf(given).toEqualTypeOf<{ city: number }>(),
  });
});
