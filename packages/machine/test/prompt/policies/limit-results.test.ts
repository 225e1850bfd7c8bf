import { describe, expect, test } from "vitest";
import { ConfigurationError, textOf } from "../../../src/index.ts";
import { limitResults, type LimitResultsOptions } from "../../../src/prompt/policies/limit-results.ts";
import { inputOf, messagesOf, shownBy, turn } from "./made-up-history.ts";

const made = {
  turns: [turn(1, "x".repeat(500), ["a".repeat(500), "b".repeat(300)], "y".repeat(500))],
  open: messagesOf(2, ["z".repeat(500), ["c".repeat(500)]]),
  pins: ["2.0"],
};

const lengths = (options: LimitResultsOptions, pins: readonly string[] = []) =>
  shownBy({ ...made, pins }, limitResults(options).decide(inputOf(made))).map((message) => textOf(message).length);

describe("limitResults", () => {
  test("shrinks each result that is longer, in the open turn too, and nothing else", () => {
    expect(lengths({ characters: 300 })).toEqual([500, 0, 300, 300, 500, 500, 0, 300]);
    expect(lengths({ characters: 500 })).toEqual([500, 0, 500, 300, 500, 500, 0, 500]);
  });

  test("what is pinned stays whole", () => {
    expect(lengths({ characters: 200 }, ["1.1.0", "2.1.0"])).toEqual([500, 0, 500, 300, 500, 500, 0, 500]);
  });

  test("a reference names the tool that reads the whole", () => {
    const { decide, options } = limitResults({ characters: 250, rule: "reference", tool: "read_back" });
    expect(options).toEqual({ characters: 250, rule: "reference", tool: "read_back" });
    const shown = shownBy(made, decide(inputOf(made))).map(textOf);
    expect(shown.slice(-1)[0]).toContain("Read it with read_back.");
  });

  test.each<readonly [LimitResultsOptions, string]>([
    [{ characters: 199 }, "limitResults({ characters }) is 199; it must be a whole number of 200 or more"],
    [{ characters: 0 }, "is 0"],
    [{ characters: Number.POSITIVE_INFINITY }, "is Infinity"],
    [{ characters: 500, tool: "read_back" }, 'is "read_back", which only a reference names'],
    [{ characters: 500, rule: "reference", tool: "" }, 'limitResults({ tool }) is ""'],
    [{ characters: 500, rule: "reference", tool: "t".repeat(65) }, "room for 64 characters"],
    // JavaScript may pass any word.
    [{ characters: 500, rule: "clear" as "reference" }, 'limitResults({ rule }) is "clear"'],
    [undefined as unknown as LimitResultsOptions, "write limitResults({ characters: 4_000 })"],
    [{} as LimitResultsOptions, "limitResults({ characters }) is undefined"],
  ])("refuses %o", (options, words) => {
    expect(() => limitResults(options)).toThrow(ConfigurationError);
    expect(() => limitResults(options)).toThrow(words);
  });
});
