import type { Content, Event, JsonObject, SeedDraft } from "@colloquy/machine";
import { estimateCounter } from "@colloquy/machine/policies";
import { describe, expect, it } from "vitest";
import {
  datasetReport,
  jsonLines,
  linearise,
  pairsOf,
  toDpo,
  toSft,
  toTrl,
  toTrlPreferences,
} from "../../../src/datasets/index.ts";
import { addedJournal } from "../journal.ts";

const url = "https://example.org/a.png";
const text = (words: string) => ({ type: "text", text: words }) as const;
const image = { type: "image", url } as const;

/** Returns the examples of a thread to which these turns were added. */
const examplesOf = (...turns: readonly (readonly SeedDraft[])[]) =>
  linearise([addedJournal(turns.map((messages): Event => ({ type: "turn.added", at: 1, messages })))]).examples;

const user = (content: Content, more: object = {}): SeedDraft => ({
  role: "user",
  content,
  ...more,
});
const said = (content: string): SeedDraft => ({ role: "assistant", content });

/** Returns the first message of the first row, or the reason why there is no row, and the losses. */
const written = (write: typeof toSft, ...messages: readonly SeedDraft[]) => {
  const { rows, leftOut, losses } = write(examplesOf([...messages, said("A")]));
  const [row] = rows;
  const all = row?.["messages"] ?? row?.["prompt"];
  return [Array.isArray(all) ? all[0] : leftOut.map(({ because }) => because), losses.map(({ what }) => what)];
};

describe("a message of a dataset row", () => {
  it.each<readonly [string, typeof toSft, SeedDraft, unknown, readonly string[]]>([
    ["one text", toSft, user([text("Q")]), { role: "user", content: "Q" }, []],
    [
      "texts",
      toSft,
      user([text("Q"), text(""), text("R")]),
      { role: "user", content: "Q\nR" },
      ["where the parts of a content begin and end"],
    ],
    [
      "an image",
      toSft,
      user([text("Look."), image]),
      { role: "user", content: [text("Look."), { type: "image_url", image_url: { url } }] },
      [],
    ],
    ["an image for TRL", toTrl, user([image]), ["content"], []],
    ["an image in instructions", toSft, { role: "system", content: [image] }, ["content"], []],
    ["sound", toSft, user([{ type: "opaque", value: { type: "input_audio" } }]), ["content"], []],
    ["a name", toSft, user("Q", { name: "ada" }), { role: "user", content: "Q", name: "ada" }, []],
    ["an empty name", toSft, user("Q", { name: "" }), { role: "user", content: "Q" }, ["name"]],
    [
      "instructions for developers",
      toTrl,
      { role: "developer", content: "D" },
      { role: "system", content: "D" },
      ['the role "developer"'],
    ],
    [
      "fields of a provider",
      toSft,
      user("Q", { provider: { a: 1, cache_control: { type: "ephemeral" } } }),
      { role: "user", content: "Q" },
      ["fields of the provider", 'the field "cache_control"'],
    ],
    ["metadata", toSft, user("Q", { metadata: { a: 1 } }), { role: "user", content: "Q" }, ["metadata"]],
    [
      "a weight with more",
      toSft,
      user("Q", { metadata: { weight: 0, a: 1 } }),
      { role: "user", content: "Q" },
      ["metadata"],
    ],
    ["a weight", toSft, user("Q", { metadata: { weight: 0 } }), { role: "user", content: "Q" }, []],
    ["an empty text", toTrl, user(""), ["empty"], []],
  ])("a writer converts a message with %s, and reports what is lost or left out", (_, write, message, first, lost) => {
    expect(written(write, message)).toEqual([first, lost]);
  });

  it("a row has a refusal as text", () => {
    const refusing: SeedDraft = { role: "assistant", content: [text("Well."), { type: "refusal", text: "No." }] };
    const { rows, losses } = toTrl(examplesOf([user("Q"), refusing]));
    expect(rows).toEqual([
      { prompt: [{ role: "user", content: "Q" }], completion: [{ role: "assistant", content: "Well.\nNo." }] },
    ]);
    expect(losses.map(({ what }) => what)).toEqual(["a refusal", "where the parts of a content begin and end"]);
    const alone: SeedDraft = { role: "assistant", content: [{ type: "refusal", text: "No." }] };
    expect(toTrl(examplesOf([user("Q"), alone])).losses.map(({ what }) => what)).toEqual(["a refusal"]);
  });

  it("a row has call arguments as an object for TRL if they are one, and as text for OpenAI", () => {
    const texts = ['{"n":1}', "[1]", "null", "no JSON"];
    const toolCalls = texts.map((given, index) => ({ id: `c${index}`, name: "f", arguments: given }));
    const results = toolCalls.map(({ id }): SeedDraft => ({ role: "tool", toolCallId: id, content: "" }));
    const examples = examplesOf([user("Q"), { role: "assistant", toolCalls }, ...results, said("A")]);
    const argumentsIn = (messages: unknown): unknown =>
      // Cast: the second message of these rows has calls.
      (messages as readonly { tool_calls?: readonly { function: { arguments: unknown } }[] }[])[1]?.tool_calls?.map(
        (call) => call.function.arguments,
      );
    expect(argumentsIn(toTrl(examples).rows[0]?.["prompt"])).toEqual([{ n: 1 }, ...texts.slice(1)]);
    expect(argumentsIn(toTrl(examples, { as: "messages" }).rows[0]?.["messages"])).toEqual([
      { n: 1 },
      ...texts.slice(1),
    ]);
    expect(argumentsIn(toSft(examples).rows[0]?.["messages"])).toEqual(texts);
  });

  it.each<readonly [string, JsonObject]>([
    ["of a custom tool", { type: "custom" }],
    ["of an unknown kind", { call: { id: "c", type: "search" } }],
    ["without a function", { call: { id: "c", type: "function" } }],
    ["whose arguments are not a text", { call: { id: "c", type: "function", function: { name: "f", arguments: {} } } }],
  ])("a writer leaves out an example with a call %s", (_, provider) => {
    const call = { id: "c", name: "f", arguments: "{}", provider };
    const result: SeedDraft = { role: "tool", toolCallId: "c", content: "" };
    const { rows, leftOut } = toSft(
      examplesOf([user("Q"), { role: "assistant", toolCalls: [call] }, result, said("A")]),
    );
    expect([rows, leftOut.map(({ because }) => because)]).toEqual([[], ["content"]]);
  });

  it("a writer leaves out a pair if only its rejected reply has content that the format does not support", () => {
    const [chosen] = examplesOf([user("Q"), said("A")]);
    const [rejected] = examplesOf([
      user("Q"),
      { role: "assistant", content: [{ type: "opaque", value: { type: "input_audio" } }] },
    ]);
    if (chosen === undefined || rejected === undefined) throw new Error("there is no example");
    for (const write of [toDpo, toTrlPreferences]) {
      expect(write([{ chosen, rejected }])).toEqual({
        rows: [],
        leftOut: [{ thread: "t", turn: 1, step: 1, because: "content", score: null }],
        losses: [],
      });
    }
  });
});

it("a row has the offered tools, and parallel_tool_calls if its format has that field", () => {
  const tools = [{ name: "f" }, { name: "g", description: "G.", parameters: { type: "object" } }];
  const [example] = examplesOf([user("Q"), said("A")]);
  if (example === undefined) throw new Error("there is no example");
  const wire = [
    { type: "function", function: { name: "f" } },
    { type: "function", function: { name: "g", description: "G.", parameters: { type: "object" } } },
  ];
  const membersOf = (write: typeof toSft, given: readonly [typeof tools, unknown]) => {
    const [row] = write([{ ...example, tools: given[0], model: { parallel_tool_calls: given[1] as boolean } }]).rows;
    return [row?.["tools"], row?.["parallel_tool_calls"]];
  };
  expect(membersOf(toSft, [tools, true])).toEqual([wire, true]);
  expect(membersOf(toSft, [tools, "yes"])).toEqual([wire, undefined]);
  expect(membersOf(toSft, [[], true])).toEqual([undefined, undefined]);
  expect(membersOf(toTrl, [tools, true])).toEqual([wire, undefined]);
});

describe("datasetReport", () => {
  it("datasetReport has a line for each count, and none for a count of zero", () => {
    const linearised = linearise([addedJournal([{ type: "turn.added", at: 1, messages: [user("Q"), said("A")] }])]);
    const dataset = toSft(linearised.examples);
    expect(datasetReport({ linearised, dataset })).toEqual(["1 row of 1 example"]);
    const pairs = { alone: 0, ties: 0, same: 0, unscored: 0 };
    expect(datasetReport({ linearised, dataset, pairs })).toEqual(["1 row of 1 example"]);
    expect(jsonLines(dataset.rows)).toBe(
      '{"messages":[{"role":"user","content":"Q"},{"role":"assistant","content":"A"}]}\n',
    );
  });

  it("datasetReport counts tokens, omitted examples, doubtful tools, losses and broken journals", () => {
    const score = (turn: number, value: number): Event => ({
      type: "turn.annotated",
      at: 1,
      turn,
      name: "score",
      value,
    });
    const add = (question: Parameters<typeof user>[0], answer: string): Event[] => [
      { type: "head.moved", at: 1, to: 0 },
      { type: "turn.added", at: 1, messages: [user(question), said(answer)] },
    ];
    const data = [{ type: "data", field: "q", value: 1 }] as const;
    const journal = addedJournal(
      [
        ...add(data, "good"),
        score(1, 1),
        ...add(data, "bad"),
        score(2, 0),
        ...add("alone", "A"),
        score(3, 1),
        ...add("nobody judged", "A"),
        ...add("empty", ""),
      ].slice(1),
    );
    const broken = { name: "broken", entries: journal.entries.slice(2) };
    const read = linearise([journal, broken], { turns: "all", counter: estimateCounter });
    const tools = [
      { name: "f", is: "missing", examples: 1 },
      { name: "g", is: "changed", examples: 2 },
    ] as const;
    const { pairs, leftOut } = pairsOf(read.examples);
    const lines = datasetReport({ linearised: { ...read, tools }, dataset: toDpo(pairs), pairs: leftOut });
    const tokens = read.examples.map((each) => each.tokens ?? { total: Number.NaN, trained: Number.NaN });
    const sum = (of: "total" | "trained") => tokens.reduce((all, each) => all + each[of], 0);
    expect(lines).toEqual([
      "1 row of 4 examples",
      `${sum("total")} tokens in the examples, ${sum("trained")} of them trained (by ${read.countedBy})`,
      "left out: 1 empty",
      "without a pair: 1 prompt with one reply, 0 with replies that are equally good; 0 pairs of the same reply; 1 example without a score",
      'the tool "f" is not declared: rows have its name alone (1 example)',
      'the tool "g" is declared in other words than it was offered in: rows have these (2 examples)',
      "not as it was: a data field: it is written as a text (1 time)",
      expect.stringMatching(/^broken can't be read: entry \d+: /),
    ]);
    expect(toTrlPreferences(pairs).rows).toEqual([
      {
        prompt: [{ role: "user", content: "q: 1" }],
        chosen: [{ role: "assistant", content: "good" }],
        rejected: [{ role: "assistant", content: "bad" }],
      },
    ]);
  });
});
