import { fc, test as property } from "@fast-check/vitest";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { fromChatMessage, replyFromChatMessage, toChatMessage } from "../../src/chat/message.ts";
import { isJsonObject } from "../../src/exchange/json-object.ts";
import type { JsonObject, Message, SeedDraft } from "@colloquy/machine";
import { messageFromDraft, messageFromReply, messageFromResult } from "@colloquy/machine";
import { canonical } from "../canonical.ts";
import { recordingsFolder, recordingsOf } from "../recordings.ts";

/** As a thread would make it, the result's call being the one that has its id. */
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

  test.skipIf(folder === null)("are what they were after going through a thread", () => {
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

// Reading recordings: a missing or other value stands for an empty one.
const object = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
const objects = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);

describe("content", () => {
  test.each([null, "", []])("%j says nothing", (content) => {
    expect(right(replyFromChatMessage({ content }))).toEqual({});
    expect(roundTrip({ role: "user", content })).toEqual({ role: "user", content: "" });
  });

  test("may be absent from a reply only: a message of another format may have its text elsewhere", () => {
    expect(right(replyFromChatMessage({}))).toEqual({});
    for (const role of ["system", "developer", "user", "tool", "function"])
      expect(fromChatMessage({ role, parts: [{ type: "text", text: "Hi." }] })).toEqual({
        _tag: "Left",
        left: `a ${role} message without content; content must be a text or a list of parts`,
      });
  });

  test("is null beside calls, and empty where nothing else is said", () => {
    const calls = [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }];
    expect(replyRoundTrip({ tool_calls: calls })).toEqual({ role: "assistant", content: null, tool_calls: calls });
    expect(replyRoundTrip({})).toEqual({ role: "assistant", content: "" });
  });

  test("of several parts comes back part by part", () => {
    const content = [
      { type: "text", text: "look" },
      { type: "image_url", image_url: { url: "https://example.org/a.png", detail: "low" } },
      { type: "image_url", image_url: "https://example.org/b.png" },
      { type: "image_url", image_url: { url: "https://example.org/c.png" }, cache_control: { type: "ephemeral" } },
      { type: "text", text: "again", cache_control: { type: "ephemeral" } },
      { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" } },
      { type: "input_audio", input_audio: { data: "AA==", format: "wav" } },
    ];
    for (const role of ["system", "user", "tool"]) expect(roundTrip({ role, content })).toEqual({ role, content });
    const draft = right(fromChatMessage({ role: "user", content }));
    expect(draft).toMatchObject({
      content: [
        { type: "text", text: "look" },
        { type: "image", url: "https://example.org/a.png", detail: "low" },
        { type: "opaque" },
        { type: "opaque" },
        { type: "text", text: "again" },
        { type: "opaque" },
        { type: "opaque" },
      ],
    });
  });

  test("of a data part is a text on the wire", () => {
    const message = messageFromDraft("1.0", {
      role: "user",
      content: [
        { type: "data", field: "question", value: "why?" },
        { type: "data", field: "documents", value: [{ id: 1 }] },
      ],
    });
    expect(toChatMessage(message)).toEqual({
      role: "user",
      content: [
        { type: "text", text: 'question: "why?"' },
        { type: "text", text: 'documents: [{"id":1}]' },
      ],
    });
  });
});

describe("tool calls", () => {
  test.each([
    [null, "null"],
    [undefined, "null"],
    ["", ""],
    ["{not json", "{not json"],
    [{ city: "Oslo" }, '{"city":"Oslo"}'],
  ])("arguments %j become %j", (given, expected) => {
    const reply = right(replyFromChatMessage({ tool_calls: [{ id: "a", function: { name: "f", arguments: given } }] }));
    expect(reply.toolCalls?.[0]?.arguments).toBe(expected);
  });

  test("of custom tools and of unknown kinds go back as they came", () => {
    const calls = [
      { id: "a", type: "custom", custom: { name: "patch", input: "*** begin" } },
      { id: "b", type: "web_search", query: "weather" },
      {
        id: "c",
        type: "function",
        function: { name: "f", arguments: "{}" },
        extra_content: { google: { thought_signature: "s" } },
      },
    ];
    expect(replyRoundTrip({ tool_calls: calls })["tool_calls"]).toEqual(calls);
    expect(right(replyFromChatMessage({ tool_calls: calls })).toolCalls).toMatchObject([
      { id: "a", name: "patch", arguments: "*** begin" },
      { id: "b", name: "web_search" },
      { id: "c", name: "f", arguments: "{}" },
    ]);
  });

  test("without an id get one that their results share", () => {
    const message = messageFromReply("3.2", "3.2", { toolCalls: [{ id: null, name: "f", arguments: "{}" }] });
    const [call] = message.parts;
    if (call?.type !== "toolCall") throw new Error("no call");
    const result = messageFromResult(call, "completed", "done");
    expect(toChatMessage(message).tool_calls).toMatchObject([{ id: "call_3_2_0" }]);
    expect(toChatMessage(result)).toEqual({ role: "tool", tool_call_id: "call_3_2_0", content: "done" });
    expect(toChatMessage(result, { missingIds: "absent" })).toEqual({ role: "tool", content: "done" });
  });

  test("of the time before tools are kept and sent back", () => {
    const wire = { role: "assistant", content: null, function_call: { name: "Joke", arguments: "{}" } };
    expect(roundTrip(wire)).toEqual(wire);
    const result = { role: "function", name: "Joke", content: "ha" };
    expect(roundTrip(result)).toEqual(result);
    expect(right(replyFromChatMessage({ content: "hi", function_call: { name: "", arguments: "" } }))).toEqual({
      content: "hi",
    });
  });
});

describe("reasoning", () => {
  const calls = [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }];

  test("goes back beside tool calls, under each name that it came by, and not beside an answer", () => {
    const wire = { reasoning: "hm", reasoning_content: "hm" };
    expect(right(replyFromChatMessage({ content: "5", ...wire })).content).toMatchObject([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "5" },
    ]);
    expect(replyRoundTrip({ content: "5", ...wire })).toEqual({ role: "assistant", content: "5" });
    expect(replyRoundTrip({ ...wire, tool_calls: calls })).toMatchObject(wire);
  });

  test("that is empty goes back where it would be missed", () => {
    expect(replyRoundTrip({ reasoning_content: "", tool_calls: calls })).toHaveProperty("reasoning_content", "");
    expect(right(replyFromChatMessage({ content: "5", reasoning_content: "" }))).toEqual({ content: "5" });
  });

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

  test("in the content is read, and goes back as it came", () => {
    const content = [
      { type: "thinking", thinking: [{ type: "text", text: "Okay" }], closed: true },
      { type: "text", text: "4" },
    ];
    expect(replyRoundTrip({ content })).toEqual({ role: "assistant", content });
    expect(right(replyFromChatMessage({ content })).content).toMatchObject([
      { type: "reasoning", text: "Okay" },
      { type: "text", text: "4" },
    ]);
  });
});

describe("other fields", () => {
  test("refusals are kept and sent back where they came", () => {
    expect(replyRoundTrip({ content: null, refusal: "no" })).toEqual({ role: "assistant", content: "", refusal: "no" });
    const content = [{ type: "refusal", refusal: "no" }];
    expect(replyRoundTrip({ content })).toEqual({ role: "assistant", content });
  });

  test("only what servers take back goes back", () => {
    const annotated = {
      annotations: [],
      provider_metadata: { cost: "1" },
      logprobs: null,
      index: 0,
      refusal: null,
      channel: "final",
    };
    expect(replyRoundTrip({ content: "hi", ...annotated })).toEqual({ role: "assistant", content: "hi" });
    const audio = { id: "audio_1", data: "AAAA", expires_at: 1, transcript: "hi" };
    expect(replyRoundTrip({ content: null, audio })).toEqual({
      role: "assistant",
      content: null,
      audio: { id: "audio_1" },
    });
  });

  test("what asks to be continued goes back, and what does not says nothing", () => {
    for (const field of ["prefix", "partial"]) {
      expect(roundTrip({ role: "assistant", content: "hi", [field]: true })).toHaveProperty(field, true);
      expect(roundTrip({ role: "assistant", content: "hi", [field]: false })).not.toHaveProperty(field);
    }
  });

  test("names stay with their messages", () => {
    for (const role of ["system", "developer", "user", "assistant"]) {
      expect(roundTrip({ role, content: "hi", name: "ann" })).toEqual({ role, content: "hi", name: "ann" });
    }
  });
});

describe("what is no message", () => {
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
