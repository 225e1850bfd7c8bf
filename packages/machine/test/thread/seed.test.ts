import { seedArbitrary } from "@colloquy/runtime-test/arbitraries";
import { problemOfPrompt } from "@colloquy/runtime-test/laws";
import fc from "fast-check";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { messagesFromSeed, type SeedDraft, textOf, toolResultOf } from "../../src/index.ts";
import { runs } from "../runs.ts";

const calls = (...ids: readonly (string | null)[]): SeedDraft => ({
  role: "assistant",
  toolCalls: ids.map((id, index) => ({ id, name: `tool${index}`, arguments: "{}" })),
});
const result = (toolCallId: string | null, content = "found"): SeedDraft => ({ role: "tool", toolCallId, content });

describe("messagesFromSeed", () => {
  test("gives well-formed messages with ids of their own for every conversation", () => {
    const gives = (drafts: readonly SeedDraft[]) => {
      const messages = messagesFromSeed(3, drafts);
      if (Either.isLeft(messages)) throw new Error(messages.left);
      expect(problemOfPrompt(messages.right)).toBe(drafts.length === 0 ? "it is empty" : null);
      expect(messages.right).toHaveLength(drafts.length);
      expect(new Set(messages.right.map(({ id }) => id)).size).toBe(drafts.length);
    };
    fc.assert(fc.property(seedArbitrary(["search"]), gives), { numRuns: runs(200) });
  });

  test("puts results in call order, each with its own call, also where ids repeat or are missing", () => {
    const drafts = [
      calls("a", "b", null, "a"),
      result("b", "of b"),
      result("a", "first of a"),
      result(null, "of none"),
      result("a", "second of a"),
    ];
    const messages = messagesFromSeed(0, drafts);
    expect(Either.isRight(messages) && messages.right.slice(1).map(textOf)).toEqual([
      "first of a",
      "of b",
      "of none",
      "second of a",
    ]);
    expect(Either.isRight(messages) && messages.right.slice(1).map((message) => toolResultOf(message)?.name)).toEqual([
      "tool0",
      "tool1",
      "tool2",
      "tool3",
    ]);
  });

  test("looks at each result once, however many calls a round has and in whatever order they are answered", () => {
    const ids = Array.from({ length: 500 }, (_, index) => `call-${index}`);
    let looks = 0;
    const counting = (id: string): SeedDraft => ({
      role: "tool",
      content: id,
      get toolCallId() {
        looks += 1;
        return id;
      },
    });
    const messages = messagesFromSeed(0, [calls(...ids), ...ids.toReversed().map(counting)]);
    expect(Either.isRight(messages) && messages.right.slice(1).map(textOf)).toEqual(ids);
    expect(looks).toBeLessThanOrEqual(2 * ids.length);
  });

  test.each<readonly [string, readonly SeedDraft[], RegExp]>([
    ["a result at the beginning", [result("a")], /message 0 is the result of call "a"/],
    ["a result of another call", [calls("a"), result("b")], /message 1 is the result of call "b"/],
    ["a second result of one call", [calls("a"), result("a"), result("a")], /message 2/],
    ["a call without its result at the end", [calls("a", "b"), result("a")], /no result for call "b" before message 2/],
    [
      "a message inside a round",
      [calls("a"), { role: "user", content: "?" }, result("a")],
      /no result for call "a" before message 1/,
    ],
    ["a call without an id that has none", [calls(null)], /no result for call "tool0"/],
  ])("refuses %s, and says which message", (_, drafts, words) => {
    const messages = messagesFromSeed(0, drafts);
    expect(Either.isLeft(messages) && messages.left).toMatch(words);
  });
});
