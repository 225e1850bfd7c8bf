import { describe, expect, test } from "vitest";
import { eventOf } from "../server.ts";
import { bytesOf, callOf, chunkOf, decode } from "./wire.ts";
import { decodeChatStream } from "../../../src/llm/reply/chat-answer.ts";

/** Returns the calls of a reply whose deltas have one entry each. */
const callsOf = (...entries: readonly object[]): Promise<unknown> => inLists(...entries.map((entry) => [entry]));

/** Returns the calls of a reply whose deltas have these lists. */
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
    expect(await callsOf({ function: { name: "f" } }, { function: { name: "g" } })).toEqual([
      callOf(null, "f", ""),
      callOf(null, "g", ""),
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

  test("end with a name alone where each piece has it, and begin with one where only the first piece has it", async () => {
    const piece = (given: string) => ({ function: { name: "f", arguments: given } });
    expect(await callsOf(piece("{"), piece("}"), piece(""))).toEqual([callOf(null, "f", "{}")]);
    expect(await callsOf(piece("{}"), piece(""), { function: { arguments: "{}" } })).toEqual([
      callOf(null, "f", "{}"),
      callOf(null, "f", "{}"),
    ]);
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
    const encoded = JSON.stringify('{"x":1}');
    expect(
      await callsOf(
        { index: 1, ...callOf("a", "f", "{") },
        { index: 2, ...callOf("b", "g", encoded.slice(0, 3)) },
        { index: 1, function: { arguments: "}" } },
        { index: 2, function: { arguments: encoded.slice(3) } },
      ),
    ).toEqual([callOf("a", "f", "{}"), callOf("b", "g", '{"x":1}')]);
    expect(
      await callsOf(
        { index: 0, ...callOf("a", "f", "{}") },
        { index: 0, ...callOf("b", "g", "{") },
        { index: 0, function: { arguments: "}" } },
      ),
    ).toEqual([callOf("a", "f", "{}"), callOf("b", "g", "{}")]);
  });

  test("begin with an id at a new index, even before their name; a piece without both belongs to the last one", async () => {
    expect(
      await callsOf(
        { index: 0, ...callOf("a", "f", "") },
        { index: 1, function: { arguments: "{}" } },
        { index: 2, id: "b", function: { arguments: "" } },
        { index: 2, function: { name: "g", arguments: "{}" } },
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

  test("are one if the id changes and the name is repeated with the first arguments", async () => {
    expect(
      await callsOf(
        { index: 0, ...callOf("a", "f", "") },
        { index: 0, ...callOf("b", "f", '{"x"') },
        { index: 0, ...callOf("c", "f", ":1}") },
        { index: 1, ...callOf("d", "f", "") },
        { index: 1, ...callOf("e", "f", "{}") },
      ),
    ).toEqual([callOf("a", "f", '{"x":1}'), callOf("d", "f", "{}")]);
    expect(
      await callsOf({ index: 0, ...callOf("a", "f", "{}") }, { index: 0, ...callOf("b", "f", '{"x":1}') }),
    ).toEqual([callOf("a", "f", "{}"), callOf("b", "f", '{"x":1}')]);
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
    const [first, second] = [0, 1].map((index) => [
      { index, ...bare },
      { index, ...bare },
    ]);
    expect(await inLists(first ?? [], second ?? [])).toEqual([...two, ...two]);
    const whole = { function: { name: "f", arguments: "{}" } };
    expect(await inLists([whole, whole], [whole, whole])).toEqual(
      Array.from({ length: 4 }, () => callOf(null, "f", "{}")),
    );
  });
});

test.each([
  [["n", "ull", '{"x":1}'], '{"x":1}'],
  [["{", "}", '{"x":1}'], '{"x":1}'],
  [["{", '"x":1', "}"], '{"x":1}'],
  [['{"x":', '{"x":1}'], '{"x":1}'],
  [['"{', "}", '"'], "{}"],
  [['"', '{\\"x\\":1}', '"'], '{"x":1}'],
  [["n", "ull"], "null"],
])(
  "the arguments %j are shown as the call has them, although an object replaces an empty one",
  async (pieces, whole) => {
    const shown: string[] = [];
    const chunks = pieces.map((piece) => chunkOf({ tool_calls: [{ index: 0, ...callOf("a", "f", piece) }] }));
    const chat = await decodeChatStream(
      bytesOf(chunks.join("") + chunkOf({}, { finish_reason: "tool_calls" })),
      (delta) => {
        if (delta.type === "toolCall") shown.push(delta.arguments);
      },
    );
    expect([shown.join(""), chat.choices[0]?.message["tool_calls"]]).toEqual([whole, [callOf("a", "f", whole)]]);
  },
);

test("a listener gets no empty pieces for the arguments that a call holds back", async () => {
  const shown: string[] = [];
  const pieces = [callOf("a", "f", ""), ...['{"x":', '{"x":1}'].map((given) => ({ function: { arguments: given } }))];
  const chunks = pieces.map((piece) => chunkOf({ tool_calls: [{ index: 0, ...piece }] }));
  await decodeChatStream(bytesOf(chunks.join("") + chunkOf({}, { finish_reason: "tool_calls" })), (delta) => {
    if (delta.type === "toolCall") shown.push(delta.arguments);
  });
  expect(shown).toEqual(["", '{"x":', "1}"]);
});

test.each([
  ['{}{"x":1}', '{"x":1}'],
  ['{"x":1} {}', '{"x":1}'],
  ['{"x":1}{"y":2}', '{"y":2}'],
  ['{"x":1}{}{"x"', '{"x":1}'],
  ['{"x":1}{"y"', '{"x":1}{"y"'],
])("a call whose server sends the arguments %s has %s", async (sent, whole) => {
  expect(await callsOf(callOf("a", "f", sent))).toEqual([callOf("a", "f", whole)]);
});

describe("a choice", () => {
  const whole = callOf("a", "f", "{}");
  const messageOf = async (...chunks: readonly string[]): Promise<unknown> =>
    (await decode(...chunks)).choices[0]?.message;
  const chunk = (choices: unknown): string => eventOf({ choices });

  test.each([
    ["beside the piece", chunk([{ index: 0, delta: {}, tool_calls: [whole] }])],
    ["in a map by index", chunk([{ index: 0, delta: { tool_calls: { 0: whole } } }])],
    ["in a map by id", chunk([{ index: 0, delta: { tool_calls: { a: { ...whole, id: undefined } } } }])],
    ["as the only one", chunk([{ index: 0, delta: { tool_calls: whole } }])],
    ["beside an entry that says nothing", chunk([{ index: 0, delta: { tool_calls: [{}, whole] } }])],
    ["in the only choice", chunk({ index: 0, delta: { tool_calls: [whole] } })],
  ])("has its calls %s", async (_, given) => {
    expect(await messageOf(given)).toMatchObject({ tool_calls: [whole] });
  });

  test("has a call whose name comes after its arguments, or whose arguments are `parameters`", async () => {
    expect(
      await callsOf(
        { index: 0, id: "a", function: { arguments: "{}" } },
        { index: 0, id: "a", function: { name: "f" } },
      ),
    ).toEqual([whole]);
    expect(await callsOf({ id: "a", function: { name: "f", parameters: {} } })).toEqual([whole]);
  });

  test.each([
    { type: "note", text: "Hi" },
    { type: "output_text", text: "Hi", logprobs: [1] },
    { type: "file", id: "f1", name: "a.pdf" },
  ])("keeps the part %j as it came", async (part) => {
    expect(await messageOf(chunkOf({ content: [part] }))).toEqual({ role: "assistant", content: [part] });
  });

  test.each([
    ["an object with it", { text: "Hi" }, { text: " you" }],
    ["a list of one without a type", [{ text: "Hi" }], [{ text: " you" }]],
    ["a part of the Responses API", [{ type: "output_text", text: "Hi", annotations: [] }], { text: " you" }],
    ["a part", [{ type: "text", text: "Hi" }], [{ type: "text", text: " you" }]],
  ])("whose text is %s has one part", async (_, ...contents) => {
    const message = await messageOf(...contents.map((content) => chunkOf({ content })));
    expect(message).toMatchObject({ content: [{ type: "text", text: "Hi you" }] });
  });
});
