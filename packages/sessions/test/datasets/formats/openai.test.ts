import type { Event } from "@colloquy/machine";
import { journalArbitrary } from "@colloquy/runtime-test/arbitraries";
import { test as property } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { linearise, pairsOf, toDpo, toSft } from "../../../src/datasets/index.ts";
import { addedJournal } from "../journal.ts";
import { recordedJournals } from "../recorded.ts";
import { type CheckRow, cookbookProblems, fineTuneSchemas } from "../schemas.ts";
import { runs } from "../../../../../test/runs.ts";

const schemas = fineTuneSchemas();
const checked: CheckRow = (kind, row) => (schemas === null ? null : schemas(kind, row));

describe("a row of supervised fine-tuning", () => {
  it("has the messages of chat completions, of whose replies the last is trained", () => {
    const configuration = { fingerprint: "f", policy: "everything@1" };
    const journal = addedJournal([
      { type: "thread.configured", at: 0, configuration, model: { parallel_tool_calls: false } },
      { type: "metadata.changed", at: 0, metadata: { tools: [{ name: "weather", description: "d" }] } },
      {
        type: "turn.added",
        at: 1,
        messages: [
          { role: "user", content: [{ type: "data", field: "city", value: { name: "Oslo" } }], name: "ada" },
          { role: "assistant", toolCalls: [{ id: "c1", name: "weather", arguments: '{"city": "Oslo"}' }] },
          { role: "tool", toolCallId: "c1", content: "clear" },
          {
            role: "assistant",
            content: [
              { type: "reasoning", text: "Hm." },
              { type: "text", text: "It is clear." },
            ],
          },
        ],
      },
    ]);
    const { rows, losses } = toSft(linearise([journal]).examples);
    expect(rows).toEqual([
      {
        messages: [
          { role: "user", content: 'city: {"name":"Oslo"}', name: "ada" },
          {
            role: "assistant",
            content: "",
            tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: '{"city": "Oslo"}' } }],
            weight: 0,
          },
          { role: "tool", content: "clear", tool_call_id: "c1" },
          { role: "assistant", content: "It is clear." },
        ],
        tools: [{ type: "function", function: { name: "weather", description: "d" } }],
        parallel_tool_calls: false,
      },
    ]);
    expect(losses.map(({ what, times }) => [what, times])).toEqual([
      ["a data field", 1],
      ["reasoning", 1],
    ]);
    expect(checked("FineTuneChatRequestInput", rows[0])).toBeNull();
  });

  it.each([
    ["content", [{ type: "opaque", value: { type: "input_audio", input_audio: { data: "" } } }]],
    ["empty", ""],
  ] as const)("is left out as %s where a user said %j", (because, content) => {
    const journal = addedJournal([
      {
        type: "turn.added",
        at: 1,
        messages: [
          { role: "user", content },
          { role: "assistant", content: "A" },
        ],
      },
    ]);
    const { rows, leftOut } = toSft(linearise([journal]).examples);
    expect([rows, leftOut]).toEqual([[], [{ thread: "t", turn: 1, step: 1, because, score: null }]]);
  });

  property.prop([journalArbitrary()], { numRuns: runs(100) })(
    "passes the schema and the cookbook's checks",
    (entries) => {
      for (const row of toSft(linearise([{ name: "t", entries }], { per: "step", turns: "all" }).examples).rows) {
        expect(checked("FineTuneChatRequestInput", row)).toBeNull();
        expect(cookbookProblems(row)).toEqual([]);
        expect(trainedIn(row)).toBe(1);
      }
    },
  );

  it("passes them on the recorded conversations", () => {
    const journals = recordedJournals();
    const { examples } = linearise(journals, { per: "step" });
    const { rows } = toSft(examples);
    for (const row of rows) {
      expect(checked("FineTuneChatRequestInput", row)).toBeNull();
      expect(cookbookProblems(row)).toEqual([]);
    }
    // A few have audio, or an empty answer.
    expect(rows.length).toBeGreaterThanOrEqual(examples.length * 0.8);
  });
});

describe("the checks", () => {
  it
    .skipIf(schemas === null)
    .each([
      [{ messages: [{ role: "assistant", content: "x", weight: 2 }] }],
      [{ messages: [{ role: "bot", content: "x" }] }],
      [{ messages: [{ role: "assistant", content: null, tool_calls: [{ id: "1", type: "function", function: {} }] }] }],
    ])("the schema refuses %j", (row) => {
    expect(checked("FineTuneChatRequestInput", row)).not.toBeNull();
  });

  it("the cookbook's refuse what is unknown, empty or without a reply", () => {
    expect(cookbookProblems({ messages: [{ role: "user", content: "", provider: {} }] })).toEqual([
      "message_unrecognized_key",
      "missing_content",
      "example_missing_assistant_message",
    ]);
  });
});

describe("a row of preference optimisation", () => {
  const branches: readonly Event[] = [
    {
      type: "turn.added",
      at: 1,
      messages: [
        { role: "user", content: "Q" },
        { role: "assistant", content: "good" },
      ],
    },
    { type: "turn.annotated", at: 1, turn: 1, name: "score", value: 0.9 },
    { type: "head.moved", at: 1, to: 0 },
    {
      type: "turn.added",
      at: 1,
      messages: [
        { role: "user", content: "Q" },
        { role: "assistant", content: "bad" },
      ],
    },
    { type: "turn.annotated", at: 1, turn: 2, name: "score", value: 0.1 },
  ];

  it("is made from two branches of one turn", () => {
    const { examples } = linearise([addedJournal(branches)], { turns: "all" });
    const { rows } = toDpo(pairsOf(examples).pairs);
    expect(rows).toEqual([
      {
        input: { messages: [{ role: "user", content: "Q" }] },
        preferred_output: [{ role: "assistant", content: "good" }],
        non_preferred_output: [{ role: "assistant", content: "bad" }],
      },
    ]);
    const [row] = rows;
    expect(checked("FineTunePreferenceRequestInput", row)).toBeNull();
    // This version's schema names the outputs differently from the guide and the API.
    const { preferred_output: preferred, non_preferred_output: other, ...rest } = row ?? {};
    const named = { ...rest, preferred_completion: preferred, non_preferred_completion: other };
    expect(checked("FineTunePreferenceRequestInput", named)).toBeNull();
  });

  it("prefers the branch in force where that is asked for", () => {
    const { examples } = linearise([addedJournal(branches)], { turns: "all" });
    const [pair] = pairsOf(examples, { prefer: "kept" }).pairs;
    expect([pair?.chosen.turn, pair?.rejected.turn]).toEqual([2, 1]);
  });
});

const trainedIn = (row: { readonly [field: string]: unknown }): number => {
  const { messages } = row;
  return Array.isArray(messages)
    ? messages.filter(
        (message: { readonly role?: unknown; readonly weight?: unknown }) =>
          message.role === "assistant" && message.weight !== 0,
      ).length
    : 0;
};
