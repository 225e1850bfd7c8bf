import { expect, test } from "vitest";
import {
  digestOfMessage,
  type Message,
  type MessageDraft,
  messageFromDraft,
  messageFromReply,
  messageFromResult,
  type ReplyDraft,
} from "../../src/index.ts";
import { shrinkMessage } from "../../src/policies.ts";

/** Half of a pair of surrogates, which servers reject. */
const half = "\ud800";
const torn = `a${half}`;

const asked = (fields: Partial<MessageDraft>, id = "1.0"): Message =>
  messageFromDraft(id, { role: "user", content: "x", ...fields });

const replied = (reply: ReplyDraft): Message => messageFromReply("1.1", "1.1", reply);

const called = (fields: object): Message =>
  replied({ toolCalls: [{ id: "c", name: "search", arguments: "{}", ...fields }] });

const call = { callId: "1.1.0", providerCallId: "c", name: "search" };

const shrunk = (fields: Partial<Message>): Message =>
  shrinkMessage({ ...asked({ content: "x".repeat(500) }), ...fields }, [
    { rule: "headAndTail", of: "messages", characters: 200 },
  ]);

test.each<readonly [string, () => Message]>([
  ["the id of a draft", () => asked({}, torn)],
  ["the id of a draft with a name", () => asked({ name: "x" }, torn)],
  ["the text of a draft", () => asked({ content: torn })],
  ["a text part", () => asked({ content: [{ type: "text", text: torn }] })],
  ["provider fields of a part", () => asked({ content: [{ type: "text", text: "x", provider: { of: torn } }] })],
  ["a data part", () => asked({ content: [{ type: "data", field: torn, value: [torn] }] })],
  ["a name", () => asked({ name: torn })],
  ["metadata", () => asked({ metadata: { [torn]: [torn] } })],
  ["provider fields", () => asked({ provider: { [torn]: { of: torn } } })],
  ["the text of a reply", () => replied({ content: torn })],
  ["the reasoning of a reply", () => replied({ content: [{ type: "reasoning", text: torn }] })],
  ["provider fields of a reply", () => replied({ content: "x", provider: { of: torn } })],
  [
    "the prefix of the ids of calls",
    () => messageFromReply("1.1", torn, { toolCalls: [{ id: "c", name: "search", arguments: "{}" }] }),
  ],
  ["the provider's id of a call", () => called({ id: torn })],
  ["the name of a called tool", () => called({ name: torn })],
  ["the arguments of a call", () => called({ arguments: torn })],
  ["provider fields of a call", () => called({ provider: { of: torn } })],
  ["the text of a result", () => messageFromResult(call, "completed", torn)],
  ["a part of a result", () => messageFromResult(call, "completed", [{ type: "text", text: torn }])],
  ["the id of the call of a result", () => messageFromResult({ ...call, callId: torn }, "completed", null)],
  ["the provider's id of a result", () => messageFromResult({ ...call, providerCallId: torn }, "completed", null)],
  ["the tool's name of a result", () => messageFromResult({ ...call, name: torn }, "completed", null)],
  ["the name of a shortened message", () => shrunk({ name: torn })],
  ["metadata of a shortened message", () => shrunk({ metadata: { of: [torn] } })],
])("a message is frozen and has no half of a pair of surrogates: %s", (_, make) => {
  const message = make();
  expect(JSON.stringify(message)).not.toContain("\\ud800");
  expect(JSON.stringify(message)).toContain("a\ufffd");
  expect(unfrozenIn(message)).toEqual([]);
  expect(message.digest).toBe(digestOfMessage(message));
});

test("a shortened message shares nothing with the message of its caller", () => {
  const provider = { kept: { count: 1 } };
  const message = shrunk({ provider });
  provider.kept.count = 2;
  expect(message.provider).toEqual({ kept: { count: 1 } });
  expect(message.digest).toBe(digestOfMessage(message));
});

const unfrozenIn = (value: unknown): readonly unknown[] =>
  typeof value !== "object" || value === null
    ? []
    : [...(Object.isFrozen(value) ? [] : [value]), ...Object.values(value).flatMap(unfrozenIn)];
