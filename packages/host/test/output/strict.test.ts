import { strictProblems, strictSchema } from "@colloquy/host";
import type { JsonObject } from "@colloquy/machine";
import * as z from "zod";
import { describe, expect, test } from "vitest";

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
  test.each<[string, z.ZodType]>([
    ["a null", z.object({ a: z.string().nullable() })],
    ["a union of marked objects", z.object({ u: z.discriminatedUnion("t", [z.object({ t: z.literal("a") }), z.object({ t: z.literal("b"), n: z.int() })]) })], // prettier-ignore
    ["recursion", recursive],
    ["formats, patterns and ranges", z.object({ e: z.email(), d: z.iso.datetime(), n: z.int().min(1).max(7) })],
    ["lists and choices", z.object({ l: z.array(z.enum(["a", "b"])) })],
  ])("%s is no problem", (_, schema) => expect(strictProblems(inputOf(schema))).toEqual([]));

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

  test("a default that is required all the same is one by itself", () => {
    const schema = { type: "object", properties: { a: { type: "string", default: "x" } }, required: ["a"] };
    expect(strictProblems(schema)).toEqual([{ path: "a", reason: expect.stringMatching(/default/) }]);
  });

  test("each object is closed, wherever it stands, and nothing else is changed", () => {
    const strict = JSON.stringify(strictSchema(inputOf(recursive)));
    expect(strict.match(/"additionalProperties":false/g)?.length).toBe(strict.match(/"type":"object"/g)?.length);
    const named = { type: "object", properties: { type: { type: "string", enum: ["object"] } }, required: ["type"] };
    expect(strictSchema(named)).toEqual({ ...named, additionalProperties: false });
    expect(strictSchema({ oneOf: [{ type: "object" }] })).toEqual({
      anyOf: [{ type: "object", additionalProperties: false }],
    });
  });
});
