import { memoryStore, tool } from "@colloquy/host";
import { checkKinds, checkOptions, checkValue, kinds } from "@colloquy/host/store";
import { ConfigurationError } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { problemOfOptions } from "../../src/boundary/option-kinds.ts";
import { manualClock } from "../stage.ts";

const echo = tool({ name: "echo", description: "", input: { jsonSchema: {} }, run: () => "" });
const none = [undefined, null, "", 0, {}, []] as const;

describe("a kind of option values", () => {
  test.each<readonly [keyof typeof kinds, (typeof kinds)["text"], readonly unknown[], readonly unknown[]]>([
    ["text", kinds.text, ["a"], [...none, ["a"]]],
    ["anyText", kinds.anyText, ["", "a"], [undefined, null, 0]],
    ["flag", kinds.flag, [true, false], [...none, "true"]],
    ["number", kinds.number, [0, -1.5, Infinity], [Number.NaN, "1", null]],
    ["whole", kinds.whole(1), [1, 2 ** 53 - 1], [0, 1.5, 2 ** 53, "1", Number.NaN]],
    ["call", kinds.call, [() => {}], none],
    ["object", kinds.object, [{}, new Date(0)], [null, [], "a", () => {}]],
    ["list", kinds.list, [[], [1]], [{}, "a", new Set()]],
    ["listOf", kinds.listOf("texts", kinds.text.fits), [[], ["a"]], [["a", 1], "a"]],
    ["names", kinds.names, [[], ["a"], new Set(["a"])], ["a", [1], new Set([""]), {}]],
    ["signal", kinds.signal, [AbortSignal.abort()], [...none, { addEventListener: () => {} }]],
    ["tools", kinds.tools, [[], [echo]], [[{ run: () => {} }], [{ declaration: {} }], echo]],
    ["schema", kinds.schema, [z.object({})], none],
    ["oneOf", kinds.oneOf("a", "b"), ["a", "b"], ["c", "", ["a"]]],
    ["store", kinds.store, [memoryStore({ clock: manualClock() })], [{ append: () => {}, acquire: () => {} }, null]],
    ["anything", kinds.anything, none, []],
  ])("the kind %s accepts the values that fit it, and no others", (_, kind, fitting, other) => {
    expect(fitting.map((value) => kind.fits(value))).toEqual(fitting.map(() => true));
    expect(other.map((value) => kind.fits(value))).toEqual(other.map(() => false));
  });

  test.each<readonly [unknown, (typeof kinds)["text"], string]>([
    [7, kinds.text, "x must be a text that is not empty (got 7)"],
    ["", kinds.text, "x must be a text that is not empty (got an empty text)"],
    ["a key", kinds.call, "x must be a function (got a text)"],
    ["a".repeat(38), kinds.oneOf("b"), `x must be "b" (got "${"a".repeat(38)}")`],
    ["a".repeat(40), kinds.oneOf("b"), `x must be "b" (got "${"a".repeat(40)}")`],
    ["a".repeat(41), kinds.oneOf("b"), 'x must be "b" (got a text)'],
    [[1], kinds.object, "x must be an object (got a list)"],
    [{}, kinds.text, "x must be a text that is not empty (got an object)"],
    [() => {}, kinds.text, "x must be a text that is not empty (got a function)"],
    [Symbol("a"), kinds.text, "x must be a text that is not empty (got a symbol)"],
    [null, kinds.text, "x must be a text that is not empty (got null); leave it out for the default"],
    [null, kinds.needed(kinds.text), "x must be a text that is not empty (got null)"],
    [7, { ...kinds.text, isSecret: true }, "x must be a text that is not empty (got a value of type number)"],
  ])("an error names the expected kind, and quotes no text that may be a secret: %#", (value, kind, says) => {
    expect(() => checkValue("x", value, kind)).toThrow(new ConfigurationError(says));
  });
});

describe("a check of a function's options", () => {
  interface Options {
    readonly a: string;
    readonly b?: number;
    readonly c?: unknown;
  }
  const takes = { a: kinds.needed(kinds.text), b: kinds.number, c: kinds.anything } as const;

  test.each<readonly [unknown, string | null]>([
    [{ a: "a" }, null],
    [{ a: "a", b: undefined, c: null, d: undefined }, null],
    [null, "f is given null; it takes an object of a, b, c"],
    [[], "f is given a list; it takes an object of a, b, c"],
    ["a", "f is given a value of type string; it takes an object of a, b, c"],
    [{ a: "a", d: 1 }, 'f has no option "d"; there are a, b, c'],
    [{ a: "a", toString: 1 }, 'f has no option "toString"; there are a, b, c'],
    [{}, 'f needs the option "a", and it is missing'],
    [{ a: null }, 'f needs the option "a", and it is missing'],
    [{ a: "" }, "f: a must be a text that is not empty (got an empty text)"],
    [{ a: "a", b: "1" }, 'f: b must be a number (got "1")'],
  ])("problemOfOptions returns the first problem of %j, or null", (given, problem) => {
    // Cast: a caller in JavaScript may pass anything.
    expect(problemOfOptions<Options>("f", given as Options, takes)).toBe(problem);
  });

  test("a check may require an option of any kind, and checkKinds checks only the options that it names", () => {
    expect(() => checkOptions<Options>("f", Object({}), takes)).toThrow(ConfigurationError);
    expect(() => checkOptions<Options>("f", { a: "a" }, takes)).not.toThrow();
    expect(problemOfOptions<{ a: string }>("f", Object({}), { a: kinds.needed(kinds.anything) })).toBe(
      'f needs the option "a", and it is missing',
    );
    expect(problemOfOptions<{ a: string }>("f", Object({ a: 7 }), { a: kinds.needed(kinds.anything) })).toBeNull();
    expect(() => checkKinds<Options>("f", Object({ a: 7, d: 1 }), { b: kinds.number })).not.toThrow();
    expect(() => checkKinds<Options>("f", Object({ b: true }), { b: kinds.number })).toThrow(
      "f: b must be a number (got true)",
    );
  });
});
