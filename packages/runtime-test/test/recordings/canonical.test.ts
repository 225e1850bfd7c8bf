import { createHash } from "node:crypto";
import type { JsonObject } from "@colloquy/machine";
import { canonicalJson, canonicalOf, sha256OfMessages } from "@colloquy/runtime-test/recordings";
import { describe, expect, it } from "vitest";

describe("a canonical message", () => {
  it.each<{ wire: JsonObject; canonical: JsonObject }>([
    { wire: { role: "user", content: "" }, canonical: { role: "user", content: null } },
    { wire: { role: "user" }, canonical: { role: "user", content: null } },
    { wire: { role: "user", content: [] }, canonical: { role: "user", content: null } },
    {
      wire: {
        role: "user",
        content: [
          { type: "text", text: "a", cache_control: {} },
          { text: "b", type: "text" },
        ],
      },
      canonical: { role: "user", content: "ab" },
    },
    {
      wire: {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "image_url", image_url: { url: "u" } },
        ],
      },
      canonical: {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "image_url", image_url: { url: "u" } },
        ],
      },
    },
    { wire: { role: "user", content: "a", name: "Ada" }, canonical: { role: "user", content: "a", name: "Ada" } },
    {
      wire: { role: "tool", content: "a", name: "wind", tool_call_id: "1" },
      canonical: { role: "tool", content: "a", tool_call_id: "1" },
    },
    {
      wire: { role: "assistant", content: null, refusal: "no", reasoning: "hm", tool_calls: [] },
      canonical: { role: "assistant", content: null },
    },
    {
      wire: {
        role: "assistant",
        tool_calls: [
          { id: "1", type: "function", function: { name: "wind", arguments: '{ "at" : 1 }' } },
          { type: "function", function: { name: "wind", arguments: null } },
          { id: "3", type: "function", function: { name: "wind", arguments: { b: 1, a: 2 } } },
          { id: "4", type: "custom", custom: { name: "shell", input: "ls" } },
          { id: "5", name: "wind", arguments: "" },
        ],
      },
      canonical: {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "1", name: "wind", arguments: '{ "at" : 1 }' },
          { id: null, name: "wind", arguments: "null" },
          { id: "3", name: "wind", arguments: '{"b":1,"a":2}' },
          { id: "4", name: "shell", arguments: "ls" },
          { id: "5", name: "wind", arguments: "" },
        ],
      },
    },
    {
      wire: { role: "assistant", content: "", function_call: { name: "wind", arguments: "{}" } },
      canonical: { role: "assistant", content: null, function_call: { name: "wind", arguments: "{}" } },
    },
    {
      wire: { role: "assistant", content: "a", function_call: null },
      canonical: { role: "assistant", content: "a" },
    },
  ])("$canonical", ({ wire, canonical }) => {
    expect(canonicalOf(wire)).toEqual(canonical);
    expect(canonicalOf(canonicalOf(wire))).toEqual(canonical);
  });

  it("is hashed as JSON with sorted keys and no spaces", () => {
    expect(canonicalJson({ b: [1, { d: null, c: "é" }], a: undefined })).toBe('{"b":[1,{"c":"é","d":null}]}');
    const text = '[{"content":"é","role":"user"},{"content":null,"role":"assistant"}]';
    expect(sha256OfMessages([canonicalOf({ role: "user", content: "é" }), canonicalOf({ role: "assistant" })])).toBe(
      createHash("sha256").update(text, "utf8").digest("hex"),
    );
  });
});
