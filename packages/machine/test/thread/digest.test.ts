import { jsonArbitrary, messageDraftArbitrary } from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  canonicalText,
  type ContentPart,
  digestOf,
  type Json,
  type JsonObject,
  messageFromDraft,
  messageFromReply,
  messageFromResult,
} from "../../src/index.ts";
import { runs } from "../runs.ts";

describe("canonicalText", () => {
  test("is the same for any order of members, and can be parsed", () => {
    const shuffled = (value: Json | undefined): Json | undefined => {
      if (Array.isArray(value)) return value.map((inner: Json) => shuffled(inner) ?? null);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value as JsonObject)
          .reverse()
          .map(([key, inner]) => [key, shuffled(inner)]),
      );
    };
    fc.assert(
      fc.property(jsonArbitrary, (value) => {
        expect(canonicalText(shuffled(value))).toBe(canonicalText(value));
        expect(canonicalText(JSON.parse(canonicalText(value)))).toBe(canonicalText(value));
      }),
      { numRuns: runs(300) },
    );
  });

  test("leaves out what is undefined", () => {
    expect(canonicalText({ b: 1, a: undefined })).toBe('{"b":1}');
  });
});

describe("a message's digest", () => {
  const call = { callId: "1.1.0", providerCallId: "call_0", name: "search" };

  test("does not depend on its id or its metadata", () => {
    fc.assert(
      fc.property(messageDraftArbitrary, (draft) => {
        const { digest } = messageFromDraft("1.1", draft);
        expect(messageFromDraft("7.2", { ...draft, metadata: { read: true } }).digest).toBe(digest);
      }),
      { numRuns: runs(200) },
    );
  });

  test("differs for contents that differ for a model", () => {
    const messages = [
      messageFromDraft("1", { role: "user", content: "ab" }),
      messageFromDraft("1", {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      }),
      messageFromDraft("1", { role: "user", content: "ab ", name: "c" }),
      messageFromDraft("1", { role: "user", content: "ab", name: "c" }),
      messageFromDraft("1", { role: "assistant", content: "ab" }),
      messageFromDraft("1", { role: "user", content: "ab", provider: { signature: "s" } }),
      messageFromDraft("1", { role: "user", content: "\ufffd" }),
      messageFromDraft("1", { role: "user", content: [{ type: "data", field: "a", value: "b" }] }),
      messageFromDraft("1", { role: "user", content: [{ type: "data", field: "a", value: ["b"] }] }),
      messageFromDraft("1", { role: "user", content: [{ type: "image", url: "a" }] }),
      messageFromDraft("1", { role: "user", content: [{ type: "image", url: "a", detail: "low" }] }),
      messageFromReply("1", "1", { content: [{ type: "reasoning", text: "ab" }] }),
      messageFromReply("1", "1", { content: [{ type: "refusal", text: "ab" }] }),
      messageFromReply("1", "1", { toolCalls: [{ id: "call_0", name: "search", arguments: "{}" }] }),
      messageFromReply("1", "1", { toolCalls: [{ id: "call_0", name: "search", arguments: "{ }" }] }),
      messageFromReply("1", "1", { toolCalls: [{ id: "call_1", name: "search", arguments: "{}" }] }),
      messageFromResult(call, "completed", "ab"),
      messageFromResult({ ...call, providerCallId: "call_1" }, "completed", "ab"),
    ];
    expect(new Set(messages.map(({ digest }) => digest)).size).toBe(messages.length);
  });

  test("does not collide for near texts", () => {
    const texts = Array.from({ length: 20_000 }, (_, index) => `message ${index}`);
    expect(new Set(texts.map((text) => digestOf(text))).size).toBe(texts.length);
  });

  test("never changes, as journals contain it", () => {
    expect(messageFromDraft("1", { role: "user", content: "Hello" }).digest).toBe("2f8mdmqtovi");
    const parts: readonly ContentPart[] = [
      { type: "data", field: "a", value: ["b"] },
      { type: "image", url: "a", detail: "low" },
      { type: "opaque", value: { a: 1 } },
    ];
    expect(parts.map((part) => messageFromDraft("1", { role: "user", content: [part] }).digest)).toEqual([
      "lamsj87cnf",
      "vrju2qxsse",
      "14j21t5vyxl",
    ]);
    const calling = { content: "Hm", toolCalls: [{ id: "call_0", name: "search", arguments: "{}" }] };
    expect(messageFromReply("1", "1", calling).digest).toBe("h2m993mkks");
    expect(messageFromResult(call, "completed", "ab").digest).toBe("1wiz7xb2mie");
  });
});
