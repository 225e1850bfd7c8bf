import { conversationMachine } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import {
  addFigures,
  describeCaseDifference,
  isStrict,
  noFigures,
  parseCase,
  replayCase,
  sha256OfMessages,
} from "@colloquy/runtime-test/recordings";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import "@colloquy/runtime-test/vitest";
import { altered, handmade, handmadeCase } from "./cases.ts";

const { common } = handmade;

describe("a hand-made case", () => {
  const replayable = handmade.records.filter(({ tags }) => !tags.includes("protocol-violation"));

  it.each(replayable.map((recorded) => ({ name: recorded.id, recorded })))("$name replays", ({ recorded }) => {
    expect(recorded).toReplayCase({ common });
  });

  it("counts what was replayed at the machine", () => {
    const figures = replayable
      .map((recorded) => replayCase(recorded, { common }).figures)
      .reduce(addFigures, noFigures);
    expect(figures).toEqual({
      conversations: 13,
      llmCalls: 27,
      toolCalls: 12,
      toolResults: 13,
      userMessages: 21,
      messagesFinal: 77,
      messagesSent: 99,
      promptTokens: 453,
      completionTokens: 93,
      totalTokens: 561,
    });
  });

  it("that kept another message than it received is reported", () => {
    expect(replayCase(handmadeCase("kept-otherwise")).notes).toEqual([
      "step 1: the client kept another message than it received; what it kept was journalled",
    ]);
  });

  it("whose prompt splits a round can't be expressed, and says why", () => {
    const { outcome, difference } = replayCase(handmadeCase("unanswered"));
    expect(outcome).toBe("inexpressible");
    expect(difference?.words).toBe(
      'model call 1 was sent what no machine sends: message 2 (user) stands where the result of call "v" should',
    );
  });

  it("that ends on the result of a call that nobody made can't be expressed", () => {
    const { outcome, difference } = replayCase(handmadeCase("late-result"));
    expect(outcome).toBe("inexpressible");
    expect(difference?.words).toMatch(/^it ends as no thread does: message 2 is a result \(of "late"\)/);
  });

  it("with a role that a thread does not have can't be expressed", () => {
    const { outcome, difference } = replayCase(handmadeCase("stranger"));
    expect(outcome).toBe("inexpressible");
    expect(difference?.words).toMatch(/the role "narrator"/);
  });

  it("that ends on calls which the client put there can't be expressed: a thread has them with their results", () => {
    const { steps } = handmadeCase("round-between-steps");
    const [asked, called, answered, placed, result] = [
      { role: "user", content: "When does it sail, and is it windy?" },
      { role: "assistant", content: null, tool_calls: [{ id: "x", name: "departures", arguments: "{}" }] },
      { role: "tool", content: "08:10", tool_call_id: "x" },
      {
        role: "assistant",
        content: "The mate looks.",
        tool_calls: [
          { id: "x", name: "wind", arguments: '{"at":"08:10"}' },
          { id: "x", name: "waves", arguments: "{}" },
        ],
      },
      { role: "tool", content: "3", tool_call_id: "x" },
    ];
    const finalHashes = new Map([
      [4, sha256OfMessages([asked, called, answered, placed])],
      [5, sha256OfMessages([asked, called, answered, placed, result])],
    ]);
    for (const kept of [4, 5]) {
      const cut = altered(handmadeCase("round-between-steps"), "steps", steps.slice(0, kept));
      // Cut without new hashes, the record is damaged.
      expect(replayCase(cut).outcome).toBe("failed");
      const parsed = parseCase({
        ...cut,
        expect: {
          ...cut.expect,
          calls: cut.expect.calls.slice(0, 1),
          messages_final: kept,
          final_sha256: finalHashes.get(kept),
        },
      });
      if (Either.isLeft(parsed)) throw new Error(parsed.left);
      const { outcome, difference } = replayCase(parsed.right);
      expect(outcome).toBe("inexpressible");
      expect(difference?.words).toMatch(/lacks a result for each/);
    }
  });

  it("whose client runs the calls of a cut reply can't be expressed", () => {
    const cut = altered(handmadeCase("booking-pending"), "steps.1.finish_reason", "length");
    const { outcome, difference } = replayCase(cut, { common });
    expect(isStrict(cut)).toBe(false);
    expect(outcome).toBe("inexpressible");
    expect(difference).toEqual({ step: 1, words: 'the calls of a reply that was cut ("length") are never run' });
  });

  it("is never inexpressible when it is strict", () => {
    const strict = altered(handmadeCase("unanswered"), "tags", []);
    expect(isStrict(strict)).toBe(true);
    expect(replayCase(strict).outcome).toBe("failed");
  });
});

describe("a changed recording is caught, and its first difference said:", () => {
  const { steps } = handmadeCase("ferries");
  const [asks, looks, ...rest] = steps;
  const zeros = "0".repeat(64);

  it.each<readonly [what: string, name: string, path: string, value: unknown, words: RegExp]>([
    [
      "a user's message",
      "ferries",
      "steps.7.content",
      "Thank you.",
      /^step 8 \(llm\): model call 3: the \d+ messages are those of the steps, but their hash is \w+…, recorded \w+….*user "Thank you\."/,
    ],
    ["a hash", "ferries", "expect.calls.1.sha256", zeros, /^step 4 \(llm\): model call 1: .* recorded 000000000000…/],
    ["the final hash", "ferries", "expect.final_sha256", zeros, /^the final list: .* recorded 000000000000…/],
    [
      "a length",
      "ferries",
      "expect.calls.1.messages",
      6,
      /^step 4 \(llm\): model call 1: 5 messages came, as in the steps; 6 are recorded$/,
    ],
    [
      "a call that was dropped",
      "ferries",
      "steps.1.message.tool_calls.length",
      1,
      /^step 3 \(tool\): model call 1 was sent what no machine sends: message 4 is a result \(of "call_2"\)/,
    ],
    [
      "the arguments of a call",
      "ferries",
      "steps.1.message.tool_calls.0.function.arguments",
      '{"to": "Skaftö"}',
      /^step 4 \(llm\): model call 1: the 5 messages .* was changed after the recording/,
    ],
    [
      "a call at the end that was dropped",
      "booking-pending",
      "steps.1.message.tool_calls",
      [],
      /^the machine ends in completed; .*"after_llm_pending_tools" should leave it in awaiting_tool$/,
    ],
    [
      "a result that was dropped",
      "ferries",
      "steps",
      steps.toSpliced(3, 1),
      /^step 3 \(llm\): model call 1 was sent what no machine sends: the result of call "call_2" is missing/,
    ],
    [
      "the order of two results",
      "ferries",
      "steps",
      [asks, looks, rest[1], rest[0], ...rest.slice(2)],
      /^step 2 \(tool\): .* is the result of "call_2" where that of call "call_1" should stand$/,
    ],
    [
      "the usage of a call, by one",
      "ferries",
      "steps.4.usage.total_tokens",
      141,
      /^total_tokens: came 394, recorded 393$/,
    ],
    [
      "the usage of all calls, by one",
      "ferries",
      "expect.usage.prompt_tokens",
      307,
      /^prompt_tokens: came 306, recorded 307$/,
    ],
    [
      "a finish reason",
      "ferries",
      "steps.1.finish_reason",
      "tool_calls",
      /^finish reason of model call 0: came "tool_calls", recorded "stop"$/,
    ],
    ["the number of tool calls", "ferries", "expect.tool_calls", 4, /^the steps have 3 tool calls, recorded 4$/],
    ["the number of user messages", "seeded", "expect.user_messages", 2, /^user messages: came 1, recorded 2$/],
  ])("%s", (_, name, path, value, words) => {
    const changed = altered(handmadeCase(name), path, value);
    const { outcome, difference } = replayCase(changed, { common });
    expect(outcome).toBe("failed");
    expect(difference === null ? "" : describeCaseDifference(changed, difference)).toMatch(words);
  });

  it("a common file that is missing, in the matcher's own words", () => {
    expect(() => expect(handmadeCase("ferries")).toReplayCase()).toThrow(
      "expected handmade/ferries to replay; it differs\nthe system prompt stands in the common file, which was not handed in",
    );
  });
});

describe("a machine that does something else is caught", () => {
  it("at the first call whose prompt is cut, with the message that is missing", () => {
    const machine = conversationMachine({ unknownTool: "ask", policy: lastTurns(0) });
    expect(() => expect(handmadeCase("ferries")).toReplayCase({ common, machine })).toThrow(
      /step 8 \(llm\): model call 3: message 1 \(user\): content: came "Thanks\.", recorded "When do the ferries/,
    );
  });

  it("when it answers an unknown tool itself", () => {
    const machine = conversationMachine();
    expect(() => expect(handmadeCase("ferries")).toReplayCase({ common, machine })).toThrow(
      /step 1 \(llm\): tool call 0 was not asked for: recorded .*"departures"/,
    );
  });

  it("when a limit ends the turn", () => {
    const machine = conversationMachine({ unknownTool: "ask", limits: { steps: 1 } });
    expect(() => expect(handmadeCase("ferries")).toReplayCase({ common, machine })).toThrow(
      /step \d \(llm\): a model call should be out, and nothing else; out is nothing \(error\)/,
    );
  });
});
