import { fc, test as property } from "@fast-check/vitest";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { fromChatMessage, replyFromChatMessage, toChatMessage } from "../../src/chat/message.ts";
import { isJsonObject } from "../../src/exchange/json.ts";
import type { JsonObject, Message, SeedDraft } from "@colloquy/machine";
import { messageFromDraft, messageFromReply, messageFromResult } from "@colloquy/machine";
import { canonical } from "../canonical.ts";
import { recordingsFolder, recordingsOf } from "../recordings.ts";

/** Returns the message that a thread makes of a draft; the call of a result is the one with its id. */
const messageOf = (draft: SeedDraft): Message => {
  if (draft.role === "assistant") return messageFromReply("1.1", "1.1", draft);
  if (draft.role !== "tool") return messageFromDraft("1.1", draft);
  return messageFromResult(
    { callId: "1.1.0", providerCallId: draft.toolCallId, name: "tool" },
    "completed",
    draft.content,
  );
};

const right = <Value>(either: Either.Either<string, Value>): Value => {
  if (Either.isLeft(either)) throw new Error(either.left);
  return either.right;
};

const roundTrip = (wire: unknown): JsonObject =>
  toChatMessage(messageOf(right(fromChatMessage(wire))), { missingIds: "absent" });

const replyRoundTrip = (wire: unknown): JsonObject =>
  toChatMessage(messageFromReply("1.1", "1.1", right(replyFromChatMessage(wire))));

describe("recorded messages", () => {
  const folder = recordingsFolder();

  test.skipIf(folder === null)("are unchanged after going through a thread", () => {
    const messages = folder === null ? [] : recordedMessages(folder);
    expect(messages.length).toBeGreaterThan(0);
    for (const wire of messages) expect(canonical(roundTrip(wire))).toEqual(canonical(wire));
  });
});

const recordedMessages = (folder: string): readonly JsonObject[] => {
  const cases = ["tau-bench-gpt-4o-airline.jsonl", "chat-cases.jsonl"].flatMap((file) => recordingsOf(folder, file));
  const said = objects(cases).flatMap((recorded) => [
    ...objects(recorded["seed"]),
    ...objects(recorded["steps"]).flatMap(({ type, message, echo, ...fields }) => {
      if (type === "llm") return [{ role: "assistant", ...object(message) }, ...objects([echo])];
      return [type === "message" ? object(message) : { ...fields, role: type }];
    }),
  ]);
  const sent = objects(recordingsOf(folder, "exchanges.jsonl")).flatMap(({ request, response }) => [
    ...objects(object(object(request)["body"])["messages"]),
    ...objects(object(object(response)["body"])["choices"]).flatMap((choice) => objects([choice["message"]])),
  ]);
  return [...said, ...sent];
};

// Recordings may lack a value or have another type; both count as empty.
const object = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
const objects = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);

test("content may be absent from a reply only: a message of another format may have its text elsewhere", () => {
  expect(right(replyFromChatMessage({}))).toEqual({});
  for (const role of ["system", "developer", "user", "tool", "function"])
    expect(fromChatMessage({ role, parts: [{ type: "text", text: "Hi." }] })).toEqual({
      _tag: "Left",
      left: `a ${role} message without content; content must be a text or a list of parts`,
    });
});

test("tool calls without an id get one that their results share", () => {
  const message = messageFromReply("3.2", "3.2", { toolCalls: [{ id: null, name: "f", arguments: "{}" }] });
  const [call] = message.parts;
  if (call?.type !== "toolCall") throw new Error("no call");
  const result = messageFromResult(call, "completed", "done");
  expect(toChatMessage(message).tool_calls).toMatchObject([{ id: "call_3_2_0" }]);
  expect(toChatMessage(result)).toEqual({ role: "tool", tool_call_id: "call_3_2_0", content: "done" });
  expect(toChatMessage(result, { missingIds: "absent" })).toEqual({ role: "tool", content: "done" });
});

describe("reasoning", () => {
  const calls = [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }];

  test("that a server is owed goes back beside an answer and beside details too, in the field that it names", () => {
    const owed = { type: "reasoning", text: "Hm.", provider: { owed: "reasoning_content" } } as const;
    const provider = { reasoning_details: [{ type: "reasoning.text", text: "Hm." }] };
    const answer = messageFromReply("1.1", "1.1", { content: [owed, { type: "text", text: "Yes." }], provider });
    expect(toChatMessage(answer)).toMatchObject({ content: "Yes.", reasoning_content: "Hm.", ...provider });
  });

  test("details go back whole, and stand for the text", () => {
    const details = [
      { type: "reasoning.text", text: "hm", signature: "s", format: "anthropic-claude-v1", index: 0 },
      { type: "reasoning.encrypted", data: "AA==", format: "x", index: 1 },
    ];
    const wire = replyRoundTrip({ content: "5", reasoning: "hm", reasoning_details: details, tool_calls: calls });
    expect(wire["reasoning_details"]).toEqual(details);
    expect(wire).not.toHaveProperty("reasoning");
    expect(right(replyFromChatMessage({ content: "5", reasoning_details: details })).content).toEqual([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "5" },
    ]);
  });
});

describe("a value that is not a message", () => {
  test.each([null, "hi", [], { role: "user", content: 5 }, { role: "robot", content: "hi" }, { content: "hi" }])(
    "%j is refused in words",
    (wire) => {
      expect(fromChatMessage(wire)).toMatchObject({ _tag: "Left", left: expect.stringContaining("chat message") });
    },
  );

  property.prop([fc.jsonValue()])("nothing makes it throw", (wire) => {
    fromChatMessage(wire);
    replyFromChatMessage(wire);
  });
});
