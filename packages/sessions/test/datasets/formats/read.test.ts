import { type Event, turnsOf } from "@colloquy/machine";
import { fold } from "@colloquy/machine/journal";
import { journalArbitrary } from "@colloquy/runtime-test/arbitraries";
import { test as property } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import {
  type Dataset,
  type Example,
  type ImportedDataset,
  importDataset,
  jsonLines,
  linearise,
  pairsOf,
  type RowFormat,
  toDpo,
  toSft,
  toTrl,
  toTrlPreferences,
} from "../../../src/datasets/index.ts";
import { addedJournal } from "../journal.ts";
import { recordedJournals } from "../recorded.ts";
import { runs } from "../../../../../test/runs.ts";

const examplesOf = ({ threads }: ImportedDataset) =>
  linearise(
    threads.map(({ line, entries }) => ({ name: String(line), entries })),
    { per: "step", turns: "all" },
  ).examples;

/** Checks that rows can be read and written back unchanged. The second time nothing at all is lost. */
const comesBack = (first: Dataset, from: RowFormat, write: (read: ImportedDataset) => Dataset): void => {
  const text = jsonLines(first.rows);
  const read = importDataset(text, { from });
  expect(read.problems).toEqual([]);
  expect(read.losses).toEqual([]);
  expect(read.threads).toHaveLength(first.rows.length);
  const second = write(read);
  expect(jsonLines(second.rows)).toBe(text);
};

/** Returns the content of a reply, without thoughts and the ids of its calls. */
const saidIn = ({ reply: { name, parts } }: Example): string =>
  JSON.stringify([name, parts.filter(({ type }) => type !== "reasoning")], (key, value: unknown) =>
    key === "callId" || key === "providerCallId" ? undefined : value,
  );

const pairsIn = (read: ImportedDataset) => pairsOf(examplesOf(read)).pairs;

describe("what was exported comes back, and goes out the same", () => {
  property.prop([journalArbitrary()], { numRuns: runs(60) })("random conversations", (entries) => {
    const { examples } = linearise([{ name: "t", entries }], { per: "step", turns: "all" });
    comesBack(toSft(examples), "sft", (read) => toSft(examplesOf(read)));
    comesBack(toTrl(examples), "trl", (read) => toTrl(examplesOf(read)));
    // Any two replies make a pair, with the prompt of the first.
    const pairs = examples.map((chosen, index) => ({ chosen, rejected: examples[index + 1] ?? chosen }));
    const unlike = pairs.filter(({ chosen, rejected }) => saidIn(chosen) !== saidIn(rejected));
    comesBack(toDpo(unlike), "dpo", (read) => toDpo(pairsIn(read)));
    comesBack(toTrlPreferences(unlike), "trl", (read) => toTrlPreferences(pairsIn(read)));
  });

  it("recorded conversations", () => {
    const journals = recordedJournals().filter((_, index) => index % 10 === 0);
    const { examples } = linearise(journals);
    comesBack(toSft(examples), "sft", (read) => toSft(examplesOf(read)));
  });
});

describe("a line", () => {
  const read = (line: string, from: RowFormat) => importDataset(line, { from }).problems.map(({ reason }) => reason);

  it.each<readonly [RowFormat, string, string]>([
    ["sft", "{", 'it is not JSON: "{"'],
    ["sft", "[]", "it is not a JSON object: []"],
    ["sft", "{}", "messages is not a list of messages: nothing"],
    ["sft", '{"messages":[{"role":"bot","content":"x"}]}', 'a chat message with the role "bot"'],
    ["sft", '{"messages":[{"role":"user","content":"x"}],"tools":[{}]}', "tools is not a list of function tools: [{}]"],
    ["dpo", '{"messages":[]}', "input is not an object with messages"],
    [
      "dpo",
      '{"input":{"messages":[{"role":"user","content":"x"}]},"preferred_output":[],"non_preferred_output":[]}',
      "preferred_output is not one message of an assistant: []",
    ],
    ["trl", '{"prompt":"a text","completion":"x"}', "prompt is a text; give a list of messages"],
    ["trl", '{"chosen":[],"rejected":[]}', "prompt is not a list of messages: nothing"],
  ])("of %s that is %s is refused in words", (from, line, reason) => {
    expect(read(line, from)).toEqual([expect.stringContaining(reason)]);
  });

  it("that can't be read is named by its number, and the others are read", () => {
    const good = JSON.stringify({
      messages: [
        { role: "user", content: "Q" },
        { role: "assistant", content: "A" },
      ],
    });
    const deep = `${"[".repeat(1_000)}${"]".repeat(1_000)}`;
    const tools = `[{"type":"function","function":{"name":"f","parameters":{"a":${deep}}}}]`;
    const lines = [good, "", "not json", good, good.replace("{", `{"tools":${tools},`), good];
    const { threads, problems } = importDataset(`\uFEFF${lines.join("\r\n")}\n`, { from: "sft" });
    expect(threads.map(({ line }) => line)).toEqual([1, 4, 6]);
    expect(problems).toEqual([
      { line: 3, reason: expect.stringContaining("it is not JSON") },
      { line: 5, reason: expect.stringContaining("nested too deep") },
    ]);
  });

  it("says what a thread has no place for", () => {
    const row = {
      messages: [
        { role: "user", content: "Q" },
        { role: "assistant", content: "A" },
      ],
      category: "tea",
    };
    const { losses } = importDataset(JSON.stringify(row), { from: "sft" });
    expect(losses.map(({ line, path }) => [line, path])).toEqual([[1, "category"]]);
    const lossy = {
      messages: row.messages.map((message) => ({ ...message, weight: message.role === "user" ? 1 : 0.5 })),
      tools: [{ type: "function", function: { name: "f", strict: true, description: 4 }, cache: true }],
      parallel_tool_calls: "no",
    };
    expect(importDataset(JSON.stringify(lossy), { from: "sft" }).losses.map(({ path }) => path)).toEqual([
      "messages.0.weight",
      "messages.1.weight",
      "parallel_tool_calls",
      "tools.0.cache",
      "tools.0.function.strict",
      "tools.0.function.description",
    ]);
  });

  it("of preferences is a thread with two branches, the better one in force", () => {
    const row = {
      input: { messages: [{ role: "user", content: "Q" }], parallel_tool_calls: false },
      preferred_output: [{ role: "assistant", content: "good" }],
      non_preferred_output: [{ role: "assistant", content: "bad" }],
    };
    const [thread] = importDataset(JSON.stringify(row), { from: "dpo", threadId: () => "x" }).threads;
    const state = fold(thread?.entries ?? []);
    if ("left" in state) throw new Error(state.left.reason);
    expect(state.right.context.threadId).toBe("x");
    expect(state.right.context.model).toEqual({ parallel_tool_calls: false });
    expect(turnsOf(state.right).map(({ annotations }) => annotations?.map(({ value }) => value))).toEqual([[1]]);
    expect(state.right.context.conversation.turns.length).toBe(2);
    expect(
      pairsIn(importDataset(JSON.stringify(row), { from: "dpo" })).map(({ chosen, rejected }) => [
        chosen.score,
        rejected.score,
      ]),
    ).toEqual([[1, 0]]);
  });

  const message = (role: string, content: string, more: object = {}) => ({ role, content, ...more });
  const [asks, answers] = [message("user", "Q"), message("assistant", "A")];

  it.each<readonly [RowFormat, object, readonly (readonly [content: string, weight: unknown])[]]>([
    [
      "sft",
      { messages: [asks, { ...answers, weight: 0 }, asks, { ...answers, weight: 1 }] },
      [
        ["A", 0],
        ["A", undefined],
      ],
    ],
    ["trl", { messages: [asks, answers] }, [["A", undefined]]],
    [
      "trl",
      { prompt: [asks, answers, asks], completion: [message("assistant", "B")] },
      [
        ["A", 0],
        ["B", undefined],
      ],
    ],
    [
      "trl",
      { prompt: [asks, answers, asks], chosen: [message("assistant", "B")], rejected: [message("assistant", "C")] },
      [
        ["A", 0],
        ["B", undefined],
        ["C", undefined],
      ],
    ],
  ])("a line of %s tells which replies are trained: %#", (from, row, replies) => {
    const { threads, problems, losses } = importDataset(JSON.stringify(row), { from });
    expect([problems, losses]).toEqual([[], []]);
    const said = (threads[0]?.entries ?? []).flatMap(({ event }) =>
      event.type === "turn.added" ? event.messages : [],
    );
    const read = said.flatMap((each) => (each.role === "assistant" ? [[each.content, each.metadata?.["weight"]]] : []));
    expect(read).toEqual(replies);
  });

  it.each<readonly [string, unknown, unknown]>([
    ["none", undefined, undefined],
    ["null", null, undefined],
    ["an empty list", [], undefined],
    ["a tool with only a name", [{ type: "function", function: { name: "f" } }], [{ name: "f" }]],
    [
      "a tool with members of invalid types",
      [{ type: "function", function: { name: "f", description: 1, parameters: [] } }],
      [{ name: "f" }],
    ],
    [
      "a tool with all members",
      [{ type: "function", function: { name: "f", description: "d", parameters: {} } }],
      [{ name: "f", description: "d", parameters: {} }],
    ],
  ])("importDataset keeps the tools of a line in the metadata of its thread: %s", (_, tools, kept) => {
    const { threads } = importDataset(JSON.stringify({ messages: [asks, answers], tools }), { from: "sft", at: 7 });
    const first = threads[0]?.entries[0]?.event;
    expect(first).toMatchObject({ type: "thread.started", threadId: "line-1", at: 7 });
    expect(first?.type === "thread.started" ? first.metadata?.["tools"] : null).toEqual(kept);
  });

  it.each([
    { type: "function", function: { name: 7 } },
    { type: "custom", function: { name: "f" } },
    { type: "function" },
    "f",
  ])("importDataset rejects a line with the invalid tool %j", (tool) => {
    for (const tools of [[tool], tool])
      expect(read(JSON.stringify({ messages: [asks, answers], tools }), "sft")[0]).toMatch(
        /^tools is not a list of func/,
      );
  });

  it("importDataset quotes only the start of an invalid value in its problem", () => {
    expect(read("x".repeat(61), "sft")).toEqual([`it is not JSON: "${"x".repeat(60)}"`]);
    expect(read(JSON.stringify({ messages: "x".repeat(200) }), "sft")).toEqual([
      "messages is a text; give a list of messages",
    ]);
    expect(read(JSON.stringify({ messages: { a: "x".repeat(200) } }), "sft")).toEqual([
      `messages is not a list of messages: {"a":"${"x".repeat(114)}`,
    ]);
    for (const messages of [[], [7], [null]])
      expect(read(JSON.stringify({ messages }), "sft")[0]).toMatch(/^messages is not a list of messages: \[/);
    const preferred = { input: { messages: [asks] }, preferred_output: [answers], non_preferred_output: [asks] };
    expect(read(JSON.stringify(preferred), "dpo")[0]).toMatch(
      /^non_preferred_output is not one message of an assistant/,
    );
    const two = { ...preferred, preferred_output: [answers, answers] };
    expect(read(JSON.stringify(two), "dpo")[0]).toMatch(/^preferred_output is not one message of an assistant/);
    expect(read(JSON.stringify({ prompt: [asks], completion: "A" }), "trl")).toEqual([
      "completion is a text; give a list of messages",
    ]);
  });

  it("importDataset reports fields of a preference line, and of its input, that a thread cannot hold", () => {
    const row = {
      input: { messages: [asks], parallel_tool_calls: null, temperature: 1 },
      preferred_output: [answers],
      non_preferred_output: [message("assistant", "B")],
      source: "x",
    };
    const { losses } = importDataset(JSON.stringify(row), { from: "dpo" });
    expect(losses.map(({ path, what, why }) => [path, what, why])).toEqual([
      ["source", 'the field "source"', "a thread has no place for it"],
      ["temperature", 'the field "temperature"', "a thread has no place for it"],
      ["parallel_tool_calls", 'the field "parallel_tool_calls"', "a thread has no place for it"],
    ]);
  });

  it("keeps which replies are trained", () => {
    const events: readonly Event[] = ["Q1", "Q2"].map((content) => ({
      type: "turn.added",
      at: 1,
      messages: [
        { role: "user", content },
        { role: "assistant", content: `A of ${content}` },
      ],
    }));
    const { rows } = toSft(linearise([addedJournal(events)]).examples);
    const { examples, leftOut } = linearise(
      importDataset(jsonLines(rows), { from: "sft" }).threads.map(({ entries }) => ({ name: "t", entries })),
    );
    expect(examples.map(({ turn }) => turn)).toEqual([1, 2]);
    expect(leftOut.map(({ because }) => because)).toEqual(["untrained"]);
    // Written again, the rows lose nothing.
    expect(toSft(examples).losses).toEqual([]);
  });

  it("that ends with a call is written again without a word about the result", () => {
    const call = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
    const messages = [
      { role: "user", content: "Q" },
      { role: "assistant", content: "", tool_calls: [call] },
    ];
    const written = toSft(examplesOf(importDataset(JSON.stringify({ messages }), { from: "sft" })));
    expect([written.rows, written.losses]).toEqual([[{ messages }], []]);
  });
});
