import { conversationMachine } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { describeCaseDifference, parseCase, type RecordedCase, replayCase } from "@colloquy/runtime-test/recordings";
import * as Either from "fp-ts/lib/Either.js";
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import "@colloquy/runtime-test/vitest";
import { altered } from "./cases.ts";

// Handwritten requests of Responses API clients: parallel calls, reasoning that is kept, dropped or sent without its
// id, a response's name in place of earlier items, items of built-in tools, an empty message, given history.
const say = (role: string, content: unknown): Item => ({ type: "message", role, content });
const call = (id: string): Item => ({ type: "function_call", call_id: id, name: "tide", arguments: '{ "at": 1 }' });
const output = (id: string, text: unknown): Item => ({ type: "function_call_output", call_id: id, output: text });
const reasoning = (id: string | null): Item => ({ type: "reasoning", id });
const usage = { input_tokens: 2, output_tokens: 1, total_tokens: 3 };
const asked = say("user", "When is the tide?");

const threeTurns: readonly Step[] = [
  { type: "input", items: [asked] },
  { type: "llm", output: [reasoning("rs_1"), say("assistant", ""), call("a"), call("b")] },
  { type: "input", items: [output("a", "at six"), output("b", "at seven")], echo: "reasoning dropped" },
  { type: "llm", output: [reasoning("rs_2"), { type: "web_search_call", id: "ws_1" }, say("assistant", "At six.")] },
  { type: "input", items: [say("developer", "Be brief."), say("user", "Thanks."), say("user", "And you?")] },
  { type: "llm", output: [say("assistant", "Fine."), reasoning("rs_3"), say("assistant", "Really.")] },
];
const sent = (
  threeTurns: readonly Step[],
  kept: (items: readonly Item[]) => readonly Item[],
): readonly (readonly Item[])[] => {
  const prompts: (readonly Item[])[] = [];
  let items: readonly Item[] = [];
  for (const step of threeTurns) {
    if (step.type === "llm") prompts.push(items);
    items = [...items, ...(step.type === "llm" ? kept(step.output) : step.items)];
  }
  return prompts;
};

const behindACall: readonly Step[] = [
  { type: "input", items: [asked] },
  { type: "llm", output: [call("a"), reasoning("rs_1"), call("b"), say("assistant", "Wait.")] },
  { type: "input", items: [output("a", "at six"), output("b", "at seven")] },
  { type: "llm", output: [say("assistant", "At six."), say("assistant", "Or seven.")] },
];

const cases = {
  "all items": recordedOf(
    threeTurns,
    sent(threeTurns, (items) => items),
  ),
  "items behind a call": recordedOf(
    behindACall,
    sent(behindACall, (items) => items),
  ),
  "reasoning dropped": recordedOf(
    threeTurns,
    sent(threeTurns, (items) => items.filter(({ type }) => type !== "reasoning")),
  ),
  "reasoning without its id": recordedOf(
    threeTurns,
    sent(threeTurns, (items) => items.map((item) => (item["type"] === "reasoning" ? reasoning(null) : item))),
  ),
  "a response named": recordedOf(
    threeTurns,
    threeTurns.flatMap((step) => (step.type === "input" ? [step.items] : [])),
    "resp_1",
  ),
  "history given": recordedOf(
    [
      {
        type: "input",
        items: [
          say("system", "You know the sea."),
          asked,
          call("a"),
          output("a", "at six"),
          { type: "additional_tools", id: null },
          say("assistant", "At six."),
          say("user", [
            { type: "input_text", text: "This?" },
            { type: "input_image", image_url: "https://a/b.png" },
          ]),
        ],
      },
      { type: "llm", output: [call("a")] },
    ],
    null,
  ),
} satisfies Readonly<Record<string, RecordedCase>>;

describe("a conversation over the Responses API", () => {
  it.each(Object.entries(cases))("with %s replays", (_, recorded) => {
    expect(recorded).toReplayCase();
  });

  it("keeps what the client kept, and says so", () => {
    const { notes, figures } = replayCase(cases["reasoning dropped"]);
    expect(notes[0]).toBe("step 1: the client kept other items than it received; what it kept was journalled");
    expect(figures).toMatchObject({ llmCalls: 3, toolCalls: 2, toolResults: 2, userMessages: 3, totalTokens: 9 });
  });

  it.each<readonly [what: string, path: string, value: unknown, words: RegExp]>([
    [
      "a user's message",
      "steps.0.items.0.content",
      "When?",
      /^step 1 \(llm\): model call 0 .* was changed after the recording, or the hash was/,
    ],
    ["an output", "steps.2.items.1.output", "at eight", /^step 3 .* was changed after/],
    ["arguments", "steps.1.output.2.arguments", "{}", /^step 3 .* was changed after/],
    ["a call dropped", "steps.1.output.length", 3, /^step 3 .* was changed after/],
    ["a built-in tool's item", "steps.3.output.1.id", "ws_2", /^step 5 .* was changed/],
    [
      "the order of outputs",
      "steps.2.items",
      [output("b", "at seven"), output("a", "at six")],
      /^step 3 .* was changed/,
    ],
    ["a hash", "expect.calls.1.sha256", "0".repeat(64), /^step 3 .*000000000000….* or the hash was/],
    ["a length", "expect.calls.1.input_items", 9, /^step 3 .* was sent 9 items/],
    ["the usage of a call", "steps.1.usage.total_tokens", 4, /^total_tokens: came 10, recorded 9/],
    ["the usage of all", "expect.usage.input_tokens", 7, /^input_tokens: came 6, recorded 7/],
    ["the number of calls", "expect.tool_calls", 3, /^tool calls: came 2, recorded 3/],
    ["the number of model calls", "expect.llm_calls", 4, /^model calls: came 3, recorded 4/],
  ])("fails when %s is changed, and says where", (_, path, value, words) => {
    const changed = altered(cases["all items"], path, value);
    const { outcome, difference } = replayCase(changed);
    expect(outcome).toBe("failed");
    expect(difference === null ? "" : describeCaseDifference(changed, difference)).toMatch(words);
  });

  it("fails under a machine that sends something else", () => {
    const machine = conversationMachine({ unknownTool: "ask", policy: lastTurns(0) });
    expect(() => expect(cases["all items"]).toReplayCase({ machine })).toThrow(
      /model call 2: item 0 \(message\): came/,
    );
  });

  it("whose prompt holds a call without its output can't be expressed, and says why", () => {
    const unanswered: readonly Step[] = [
      { type: "input", items: [asked] },
      { type: "llm", output: [call("a")] },
      { type: "input", items: [say("user", "Well?")] },
      { type: "llm", output: [say("assistant", "At six.")] },
    ];
    const recorded = recordedOf(
      unanswered,
      sent(unanswered, (items) => items),
    );
    expect(replayCase(recorded)).toMatchObject({
      outcome: "inexpressible",
      difference: { words: expect.stringMatching(/item 2 \(message\) stands where the output of a call should/) },
    });
    expect(() => expect(recorded).toReplayCase()).toThrow(/it can't be expressed/);
  });
});

type Item = { readonly type: string } & Readonly<Record<string, unknown>>;

type Step =
  | { readonly type: "input"; readonly items: readonly Item[]; readonly echo?: string }
  | { readonly type: "llm"; readonly output: readonly Item[] };

/** Returns the expected outcome, computed without a machine. */
function recordedOf(
  steps: readonly Step[],
  prompts: readonly (readonly Item[])[] | null,
  previous: string | null = null,
): RecordedCase {
  const outputs = steps.flatMap((step) => (step.type === "llm" ? [step.output] : []));
  const parsed = parseCase({
    id: "responses",
    api: "responses",
    tags: [],
    instructions: prompts === null ? null : "Answer.",
    steps: steps.map((step) => (step.type === "llm" ? { ...step, status: "completed", usage: { ...usage } } : step)),
    expect: {
      calls: (prompts ?? sent(steps, (items) => items)).map((items, k) => ({
        input_items: items.length,
        sha256: createHash("sha256").update(sorted(items)).digest("hex"),
        previous_response_id: k === 0 ? null : previous,
      })),
      llm_calls: outputs.length,
      tool_calls: outputs.flat().filter(({ type }) => type === "function_call").length,
      usage: Object.fromEntries(Object.entries(usage).map(([name, value]) => [name, value * outputs.length])),
    },
  });
  if (Either.isLeft(parsed)) throw new Error(parsed.left);
  return parsed.right;
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : each,
  );
}
