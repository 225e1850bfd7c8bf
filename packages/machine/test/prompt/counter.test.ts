import { describe, expect, test } from "vitest";
import {
  conversationMachine,
  messageFromDraft,
  messageFromReply,
  messageFromResult,
  promptOf,
} from "../../src/index.ts";
import { type Counter, countMessage, countPrompt, estimateCounter } from "../../src/policies.ts";
import { Talk } from "../talk.ts";

/** Counts characters, so that sums can be done by hand. */
const characters: Counter = {
  name: "characters",
  version: 1,
  options: {},
  perMessage: 100,
  perPrompt: 1_000,
  countPart: (part) => ("text" in part ? part.text.length : 0),
};

describe("counting", () => {
  test("a prompt costs its parts, its messages and itself", () => {
    const talk = new Talk(conversationMachine({ counter: characters }), { system: "12" });
    talk.ask("12345");
    expect(promptOf(talk.machine, talk.state).tokens).toBe(1_000 + 100 + 2 + 100 + 5);
    expect(countPrompt(characters, [])).toBe(1_000);
  });

  test.each<readonly [string, Counter["countPart"]]>([
    [
      "throws",
      () => {
        throw new RangeError("a special token");
      },
    ],
    ["counts no number", () => Number.NaN],
    ["counts without end", () => Number.POSITIVE_INFINITY],
  ])("a counter that %s leaves the count unknown, and the prompt as it is", (_, countPart) => {
    const talk = new Talk(conversationMachine({ counter: { ...characters, name: "broken", countPart } }));
    talk.ask("Hello");
    expect(promptOf(talk.machine, talk.state)).toMatchObject({ tokens: null, messages: talk.call().messages });
  });
});

describe("the estimate", () => {
  test("grows with what is said, and counts every kind of part", () => {
    const call = { callId: "1.1.0", providerCallId: null, name: "search" };
    const one = countMessage(estimateCounter, messageFromDraft("1", { role: "user", content: "" }));
    const messages = [
      messageFromDraft("1", { role: "user", content: "12345678" }),
      messageFromDraft("1", { role: "user", content: [{ type: "data", field: "question", value: ["12345678"] }] }),
      messageFromDraft("1", { role: "user", content: [{ type: "image", url: "https://example.org/x.png" }] }),
      messageFromDraft("1", { role: "user", content: [{ type: "opaque", value: { audio: "12345678" } }] }),
      messageFromReply("1", "1", { content: [{ type: "reasoning", text: "12345678" }] }),
      messageFromReply("1", "1", { content: [{ type: "refusal", text: "12345678" }] }),
      messageFromReply("1", "1", { toolCalls: [{ id: null, name: "search", arguments: "12345678" }] }),
      messageFromResult(call, "completed", "12345678"),
    ];
    for (const message of messages) expect(countMessage(estimateCounter, message)).toBeGreaterThan(one + 1);
  });
});
