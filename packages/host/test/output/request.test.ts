import { type LlmDelta, type LlmOutcome, outputRequest, strictProblems, strictSchema } from "@colloquy/host";
import { type CallLlm, textOf, type JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { wantedOutput } from "../../src/output/expected.ts";
import { held, partsOf, says, type ScriptedStep, settle, stage } from "../stage.ts";

const schema = z.object({ title: z.string(), tags: z.array(z.string()) });
const answer = { title: "One", tags: ["a", "b"] };

const callIn = async (mode: "native" | "tool" | "prompted", system?: string): Promise<CallLlm> => {
  const { host, model } = stage({
    script: [says(JSON.stringify(answer))],
    ...(system === undefined ? {} : { thread: { system } }),
  });
  await host.ask("A title?", { output: { schema, name: "title", mode } });
  const [call] = model.calls;
  if (call === undefined) throw new Error("no call");
  return call;
};

const context = (deltas: LlmDelta[] = []) => ({
  signal: new AbortController().signal,
  onDelta: (delta: LlmDelta) => void deltas.push(delta),
  clock: { now: () => 0, wakeAt: () => () => {} },
  tools: [],
});

const outcomeOf = (reply: Extract<LlmOutcome, { type: "completed" }>["reply"]): LlmOutcome => ({
  type: "completed",
  reply,
  finishReason: "tool_calls",
});
const called = (name: string, given: unknown) => ({ id: null, name, arguments: JSON.stringify(given) });

describe("the request for an output", () => {
  test("prompted: says so behind the system message, or in one of its own; the messages of the call stay as they are", async () => {
    for (const [system, before] of [
      ["Be brief.", "Be brief.\n\n"],
      [undefined, ""],
    ] as const) {
      const call = await callIn("prompted", system);
      const asked = outputRequest(call, context());
      const [first, second] = asked.call.messages;
      expect(first?.role).toBe("system");
      expect(first === undefined ? "" : textOf(first)).toBe(
        `${before}Answer with JSON that fits this JSON Schema of "title", and with nothing else:\n${JSON.stringify(call.output?.schema)}`,
      );
      expect(second === undefined ? "" : textOf(second)).toBe("A title?");
      expect(call.messages).toHaveLength(system === undefined ? 1 : 2);
    }
  });

  test("by a tool: its arguments are the text, and come as text; what is said beside them is dropped", async () => {
    const deltas: LlmDelta[] = [];
    const { call, context: given, read } = outputRequest(await callIn("tool"), context(deltas));
    expect(call.tools?.map(({ name }) => name)).toEqual(["title"]);
    expect(given.tools).toMatchObject([{ name: "title", parameters: { type: "object" } }]);
    given.onDelta({ type: "text", text: "Well: " });
    given.onDelta({ type: "toolCall", index: 0, id: "1", name: "title", arguments: "" });
    given.onDelta({ type: "toolCall", index: 0, id: "1", name: "title", arguments: '{"title":' });
    given.onDelta({ type: "toolCall", index: 1, id: "2", name: "look", arguments: "{}" });
    given.onDelta({ type: "reasoning", text: "hm" });
    const reasoning = { type: "reasoning", text: "hm" } as const;
    const content = [reasoning, { type: "text", text: "Well: " }] as const;
    expect(read(outcomeOf({ content, toolCalls: [called("title", answer)] }))).toMatchObject({
      reply: { content: [reasoning, { type: "text", text: JSON.stringify(answer) }] },
    });
    expect(deltas).toEqual([
      { type: "text", text: '{"title":' },
      { type: "toolCall", index: 0, id: "2", name: "look", arguments: "{}" },
      reasoning,
    ]);
  });

  test("by a tool: text is shown in the end if the arguments do not arrive, and calls are counted without the output", async () => {
    const deltas: LlmDelta[] = [];
    const { context: given, read } = outputRequest(await callIn("tool"), context(deltas));
    const texts = [
      { type: "text", text: "I " },
      { type: "text", text: "can't." },
    ] as const;
    for (const delta of texts) given.onDelta(delta);
    for (const index of [3, 5, 3])
      given.onDelta({ type: "toolCall", index, id: `${index}`, name: "look", arguments: "{}" });
    expect(deltas.map((delta) => (delta.type === "toolCall" ? delta.index : delta.type))).toEqual([0, 1, 0]);
    const outcome = outcomeOf({ content: "I can't." });
    expect(read(outcome)).toEqual(outcome);
    expect(deltas.slice(3)).toEqual(texts);
  });

  test("by a tool: only the first call of the tool is the output", async () => {
    const deltas: LlmDelta[] = [];
    const { context: given } = outputRequest(await callIn("tool"), context(deltas));
    for (const [index, written] of [
      [1, "{"],
      [2, "[1]"],
      [1, "}"],
    ] as const)
      given.onDelta({ type: "toolCall", index, id: "1", name: "title", arguments: written });
    expect(deltas).toEqual([
      { type: "text", text: "{" },
      { type: "text", text: "}" },
    ]);
  });

  test("by a tool takes the answer of a handler that passes on the null that servers write for no text", async () => {
    const { read } = outputRequest(await callIn("tool"), context());
    // A handler in JavaScript has no types.
    const reply = { content: null, toolCalls: [called("title", answer)] } as never;
    expect(read(outcomeOf(reply))).toMatchObject({
      reply: { content: [{ type: "text", text: JSON.stringify(answer) }] },
    });
  });

  test("by a tool beside others: it is no answer yet", async () => {
    const { read } = outputRequest(await callIn("tool"), context());
    expect(read(outcomeOf({ toolCalls: [called("title", answer), called("look", {})] }))).toMatchObject({
      reply: { toolCalls: [called("look", {})] },
    });
  });

  test("a schema whose root is no object is no tool's", async () => {
    const { host } = stage();
    const asked = host.ask("?", { output: { schema: z.array(z.string()), name: "list", mode: "tool" } });
    await expect(asked.catch(String)).resolves.toMatch(/not what mode "tool" takes: the root must be an object/);
  });
});

describe("an output that is being written", () => {
  const writes =
    (...pieces: readonly string[]): ScriptedStep =>
    async (_, { onDelta }) => {
      for (const text of pieces) {
        onDelta({ type: "text", text });
        await settle();
      }
      return says(pieces.join(""));
    };

  test("is shown as far as it can't change any more, anew with each attempt, never as validated", async () => {
    const { host } = stage({
      script: [writes('{"title":"On', 'e","tags":["a"', '],"n":1'), writes('{"title":"One","tags":[', '"b"]}')],
    });
    const handle = host.ask("?", { output: { schema, name: "title" } });
    const shown: unknown[] = [];
    for await (const part of handle) {
      if (part.type === "output.partial") shown.push([part.attempt, part.value.title, part.value.tags?.length]);
    }
    expect(shown.at(0)).toEqual([1, undefined, undefined]);
    expect(shown).toContainEqual([1, "One", 1]);
    expect(shown.at(-1)).toEqual([2, "One", 1]);
    expect((await handle).output).toEqual({ title: "One", tags: ["b"] });
  });

  test("is shown of an answer from outside only if the ask wants an output", async () => {
    for (const output of [undefined, { schema, name: "title" }]) {
      const { host, model } = stage({ script: [held().step] });
      const handle = host.ask("?", output === undefined ? {} : { output });
      const shown = partsOf(handle);
      await settle();
      const { id: effectId, promptDigest } = model.calls[0] ?? { id: "", promptDigest: "" };
      const reply = { content: JSON.stringify(answer) };
      await host.thread().send({ type: "llm.completed", at: 1, effectId, promptDigest, reply, finishReason: "stop" });
      expect((await handle).text).toBe(reply.content);
      expect((await shown).flatMap((part) => (part.type === "output.partial" ? [part.value] : []))).toEqual(
        output === undefined ? [] : [answer],
      );
    }
  });
});

const inputOf = (schema: z.ZodType): JsonObject => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" });
  // zod writes JSON.
  return JSON.parse(JSON.stringify(rest)) as JsonObject;
};

const recursive = (() => {
  const Tree = z.object({
    value: z.string(),
    get children() {
      return z.array(Tree);
    },
  });
  return Tree;
})();

describe("what a strict mode takes", () => {
  test.each<[string, z.ZodType, string, RegExp]>([
    ["an optional member", z.object({ a: z.object({ b: z.string().optional() }) }), "a.b", /optional/],
    ["a default", z.object({ a: z.string().default("x") }), "a", /optional|default/],
    ["a record", z.object({ r: z.record(z.string(), z.number()) }), "r", /record/],
    ["a tuple", z.object({ l: z.array(z.tuple([z.string(), z.number()])) }), "l[]", /tuple/],
    ["anything", z.object({ a: z.unknown() }), "a", /anything/],
    ["a list at the root", z.array(z.string()), "", /root must be an object/],
    ["a union at the root", z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]), "", /union/],
    ["what is defined apart", z.object({ t: recursive.extend({ note: z.string().optional() }) }), "t.note", /optional/],
  ])("%s is one, by its place", (_, schema, path, reason) =>
    expect(strictProblems(inputOf(schema))).toContainEqual({ path, reason: expect.stringMatching(reason) }),
  );

  test("an intersection is one", () => {
    const i = { allOf: [{ type: "object", additionalProperties: false }] };
    const schema = { type: "object", properties: { i }, required: ["i"] };
    expect(strictProblems(schema)).toEqual([{ path: "i", reason: expect.stringMatching(/intersection/) }]);
  });

  test("strictProblems follows references, and names each part of a schema that strict mode does not support", () => {
    const object = { type: "object", properties: {}, additionalProperties: false };
    const reasonOf = (schema: JsonObject) => strictProblems(schema).map(({ path, reason }) => `${path}: ${reason}`);
    for (const keyword of ["$defs", "definitions"]) {
      const pointing = (definition: JsonObject, to = "a") => ({
        $ref: `#/${keyword}/${to}`,
        [keyword]: { a: definition },
      });
      expect(reasonOf(pointing(object))).toEqual([]);
      for (const schema of [pointing({ type: "string" }), pointing(object, "b")])
        expect(reasonOf(schema)).toEqual([": the root must be an object; put what it is into a member"]);
      expect(reasonOf(pointing({ anyOf: [object] }))[0]).toMatch(/^: it is a union/);
    }
    expect(
      reasonOf({ ...object, properties: { a: true, b: { not: object, type: "string" } }, required: ["a", "b"] }),
    ).toEqual(["a: it may be anything; say what it is", "b: it is a condition, which is not supported"]);
    expect(reasonOf({ ...object, properties: { a: { type: "array", items: [] } }, required: ["a"] })).toEqual([
      "a: it is a tuple; use an object with a member for each place",
    ]);
    expect(reasonOf({ ...object, patternProperties: {} })[0]).toMatch(/^: it is a record/);
    expect(reasonOf({ ...object, additionalProperties: { type: "string" } })[0]).toMatch(/^: it is a record/);
  });

  test("an output is native and repaired twice unless its options say otherwise", () => {
    const schema = { jsonSchema: { type: "object", properties: {}, additionalProperties: false } };
    const expected = { name: "o", schema: schema.jsonSchema, mode: "native", repairs: 2 };
    expect(wantedOutput({ name: "o", schema })).toEqual(Either.right({ expected, schema: null }));
    const more = { mode: "tool", repairs: 0 } as const;
    expect(wantedOutput({ name: "o", schema, ...more })).toEqual(
      Either.right({ expected: { ...expected, ...more }, schema: null }),
    );
  });

  test("the refusal of a native output names the first problem with its place, and how many others there are", () => {
    const refusal = (jsonSchema: JsonObject): string =>
      Either.getOrElse<string, unknown>((reason) => reason)(
        wantedOutput({ name: "o", schema: { jsonSchema } }),
      ) as string;
    const optional = { type: "object", properties: { a: { type: "string" } }, additionalProperties: false };
    expect(refusal(optional)).toBe(
      'output "o" is not what mode "native" takes: a: it is optional; require it, and let it be null (nullable). Change the schema, or use mode "tool" or "prompted"',
    );
    expect(refusal({ ...optional, properties: { a: { type: "string", default: "x" }, b: {} } })).toContain(
      "(nullable) (and 3 more: strictProblems lists them). Change",
    );
    expect(refusal({ type: "string" })).toContain(
      "takes: the root must be an object; put what it is into a member. Change",
    );
  });

  test("a default that is required all the same is one by itself", () => {
    const schema = { type: "object", properties: { a: { type: "string", default: "x" } }, required: ["a"] };
    expect(strictProblems(schema)).toEqual([{ path: "a", reason: expect.stringMatching(/default/) }]);
  });

  test("each object is closed, wherever it stands, and nothing else is changed", () => {
    const strict = JSON.stringify(strictSchema(inputOf(recursive)));
    expect(strict.match(/"additionalProperties":false/g)?.length).toBe(strict.match(/"type":"object"/g)?.length);
    const named = { type: "object", properties: { type: { type: "string", enum: ["object"] } }, required: ["type"] };
    expect(strictSchema(named)).toEqual({ ...named, additionalProperties: false });
    const nullable = { type: ["object", "null"], definitions: { a: { type: "object" } }, enum: [{ type: "object" }] };
    expect(strictSchema(nullable)).toEqual({
      ...nullable,
      additionalProperties: false,
      definitions: { a: { type: "object", additionalProperties: false } },
    });
    expect(strictSchema({ items: { allOf: [{ type: "object" }, true] }, type: ["null"] })).toEqual({
      items: { allOf: [{ type: "object", additionalProperties: false }, true] },
      type: ["null"],
    });
    expect(strictSchema({ oneOf: [{ type: "object" }] })).toEqual({
      anyOf: [{ type: "object", additionalProperties: false }],
    });
  });
});
