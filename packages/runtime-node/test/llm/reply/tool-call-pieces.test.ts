import { describe, expect, test } from "vitest";
import { callOf, chunkOf, decode } from "./wire.ts";

/** The calls of a reply whose deltas bring one entry each. */
const callsOf = (...entries: readonly object[]): Promise<unknown> => inLists(...entries.map((entry) => [entry]));

/** The calls of a reply whose deltas bring these lists. */
const inLists = async (...lists: readonly (readonly object[])[]): Promise<unknown> =>
  (await decode(...lists.map((calls) => chunkOf({ tool_calls: calls })))).choices[0]?.message["tool_calls"];

describe("tool calls", () => {
  test("without an index are told apart by id, by name, and by being whole", async () => {
    expect(await callsOf(callOf("a", "f", "{}"), callOf("b", "f", "{}"))).toEqual([
      callOf("a", "f", "{}"),
      callOf("b", "f", "{}"),
    ]);
    expect(await callsOf({ function: { name: "f" } }, { function: { name: "g", arguments: "{}" } })).toEqual([
      callOf(null, "f", ""),
      callOf(null, "g", "{}"),
    ]);
    const whole = { function: { name: "f", arguments: "{}" } };
    expect(await callsOf(whole, whole)).toEqual([callOf(null, "f", "{}"), callOf(null, "f", "{}")]);
    expect(
      await callsOf(
        callOf("a", "f", "{"),
        callOf("b", "g", "["),
        { id: "a", function: { arguments: "}" } },
        { id: "b", function: { arguments: "]" } },
      ),
    ).toEqual([callOf("a", "f", "{}"), callOf("b", "g", "[]")]);
  });

  test("may begin at any index, interleave, and share an index", async () => {
    expect(
      await callsOf(
        { index: 1, ...callOf("a", "f", "{") },
        { index: 2, ...callOf("b", "g", "{") },
        { index: 1, function: { arguments: "}" } },
        { index: 2, function: { arguments: "}" } },
      ),
    ).toEqual([callOf("a", "f", "{}"), callOf("b", "g", "{}")]);
    expect(
      await callsOf(
        { index: 0, ...callOf("a", "f", "{}") },
        { index: 0, ...callOf("b", "g", "{") },
        { index: 0, function: { arguments: "}" } },
      ),
    ).toEqual([callOf("a", "f", "{}"), callOf("b", "g", "{}")]);
  });

  test("keep their first id, and a name that is said again", async () => {
    expect(
      await callsOf(
        { index: 0, ...callOf("a", "f", "") },
        { index: 0, ...callOf("a", "f", "") },
        { index: 0, id: "a2", function: { name: "", arguments: "{" } },
        { index: 0, id: "", function: { name: "f", arguments: "}" } },
      ),
    ).toEqual([callOf("a", "f", "{}")]);
    expect(
      await callsOf({ index: 0, id: "a", function: { name: "get_" } }, { index: 0, function: { name: "weather" } }),
    ).toEqual([callOf("a", "get_weather", "")]);
  });

  test("may be whole objects, custom, or of the time before tools", async () => {
    expect(await callsOf({ id: "a", function: { name: "f", arguments: { x: 1 } } })).toEqual([
      callOf("a", "f", '{"x":1}'),
    ]);
    expect(
      await callsOf(
        { index: 0, id: "a", type: "custom", custom: { name: "patch", input: "**" } },
        { index: 0, custom: { input: "*" } },
      ),
    ).toEqual([{ id: "a", type: "custom", custom: { name: "patch", input: "***" } }]);
    const chat = await decode(
      chunkOf({ function_call: { name: "", arguments: "" } }),
      chunkOf({ function_call: { name: "f", arguments: "{" } }),
      chunkOf({ function_call: { name: "", arguments: "}" } }),
      chunkOf({ function_call: { arguments: "" } }),
    );
    expect(chat.choices[0]?.message["function_call"]).toEqual({ name: "f", arguments: "{}" });
  });

  test("of one list, with neither index nor id, are told apart by their places", async () => {
    const bare = { function: { name: "f" } };
    const two = [callOf(null, "f", ""), callOf(null, "f", "")];
    expect(await inLists([bare, bare])).toEqual(two);
    expect(await inLists([bare, bare], [{ function: { arguments: "{}" } }, { function: { arguments: "[]" } }])).toEqual(
      [callOf(null, "f", "{}"), callOf(null, "f", "[]")],
    );
    expect(await inLists([{ id: "a", ...bare }, bare])).toEqual([callOf("a", "f", ""), callOf(null, "f", "")]);
    expect(await inLists([bare, { function: { arguments: "{}" } }])).toEqual([callOf(null, "f", "{}")]);
    const whole = { function: { name: "f", arguments: "{}" } };
    expect(await inLists([whole, whole], [whole, whole])).toEqual(
      Array.from({ length: 4 }, () => callOf(null, "f", "{}")),
    );
  });
});
