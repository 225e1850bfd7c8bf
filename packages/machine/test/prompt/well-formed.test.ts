import { stateArbitrary } from "@colloquy/runtime-test/arbitraries";
import { problemOfPrompt } from "@colloquy/runtime-test/laws";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Message,
  messageFromDraft,
  messageFromReply,
  messageFromResult,
  messagesOf,
  type Role,
  toolCallsOf,
  type ToolCallPart,
} from "../../src/index.ts";
import { checkPrompt } from "../../src/policies.ts";
import { runs } from "../runs.ts";

const user = messageFromDraft("1.0", { role: "user", content: "?" });
const system = messageFromDraft("s1", { role: "system", content: "Be brief." });
const asking = (step: number, ...ids: readonly string[]): Message =>
  messageFromReply(`1.${step}`, `1.${step}`, { toolCalls: ids.map((id) => ({ id, name: "search", arguments: "{}" })) });
const answer = messageFromReply("1.9", "1.9", { content: "!" });
const results = (message: Message): readonly Message[] =>
  toolCallsOf(message).map((call: ToolCallPart) => messageFromResult(call, "completed", "found"));

const two = asking(1, "a", "a");
const [first = user, second = user] = results(two);

describe("checkPrompt", () => {
  test.each<readonly [string, readonly Message[]]>([
    ["a question", [system, user]],
    ["a round", [user, two, first, second]],
    ["rounds one after the other", [user, two, first, second, asking(2, "a"), ...results(asking(2, "a")), answer]],
    ["a system message between units", [user, two, first, second, system]],
  ])("lets %s pass", (_, messages) => {
    expect(checkPrompt(messages)).toBeNull();
    expect(problemOfPrompt(messages)).toBeNull();
  });

  test.each<readonly [string, readonly Message[], number]>([
    ["nothing", [], 0],
    ["a result without its call", [user, first], 1],
    ["a result in a message of the user", [two, { ...first, role: "user" }, second], 1],
    ["results in another order", [two, second, first], 1],
    ["a missing result", [two, first, user], 2],
    ["a missing result at the end", [two, first], 2],
    ["a result twice", [two, first, first, second], 2],
    ["a message inside a round", [two, system, first, second], 1],
    ["the result of a round before", [asking(0, "a"), first], 1],
    ["a user who asks for a tool", [{ ...asking(1, "a"), role: "user" }, ...results(asking(1, "a"))], 0],
  ])("finds %s", (_, messages, index) => {
    expect(checkPrompt(messages)).toMatchObject({ index });
    expect(problemOfPrompt(messages)).not.toBeNull();
  });

  test("says the same as the obvious check, of any messages in any order", () => {
    const roles: readonly Role[] = ["user", "assistant", "tool", "system"];
    const messed = stateArbitrary().chain((state) => {
      const messages = messagesOf(state);
      return fc
        .tuple(fc.shuffledSubarray([...messages]), fc.constantFrom(...roles), fc.nat(), fc.boolean())
        .map(([some, role, index, mess]) =>
          mess ? some.map((message, at) => (at === index % some.length ? { ...message, role } : message)) : messages,
        );
    });
    fc.assert(
      fc.property(messed, (messages) => {
        expect(checkPrompt(messages) === null).toBe(problemOfPrompt(messages) === null);
      }),
      { numRuns: runs(300) },
    );
  });
});
