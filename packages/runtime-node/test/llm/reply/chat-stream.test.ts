import { fc, test as property } from "@fast-check/vitest";
import type { LlmDelta } from "@colloquy/host";
import { type JsonObject, messageFromReply } from "@colloquy/machine";
import { replyFromChatMessage, toChatMessage } from "@colloquy/interchange";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { ChatAnswer, decodeChatStream, type DecodedChat } from "../../../src/llm/reply/chat-answer.ts";
import { eventOf } from "../server.ts";
import { bytesOf, callOf, chunkOf, decode } from "./wire.ts";
import { canonical } from "../../../../interchange/test/canonical.ts";
import { recordingsFolder, recordingsOf } from "../../../../interchange/test/recordings.ts";
import { spread } from "../../../../../test/runs.ts";

interface Transcript {
  readonly id: string;
  readonly sse: string;
  readonly expect: { readonly choices: readonly { readonly message: JsonObject }[]; readonly usage: JsonObject | null };
}

const folder = recordingsFolder();
// Cast: the recordings describe their file so.
const transcripts = recordingsOf(folder, "sse-chat-transcripts.jsonl") as readonly Transcript[];

/** Returns a decoded chat in the recordings' form: the compared members of a message, and the three sums. */
const asRecorded = (chat: DecodedChat): unknown => ({
  choices: chat.choices.map(({ index, finish_reason, message }) => {
    const { role, content, refusal, tool_calls, function_call } = message;
    const told = { role, content, refusal, tool_calls, function_call };
    return { index, finish_reason, message: JSON.parse(JSON.stringify(told)) };
  }),
  usage: chat.usage && {
    prompt_tokens: chat.usage["prompt_tokens"],
    completion_tokens: chat.usage["completion_tokens"],
    total_tokens: chat.usage["total_tokens"],
  },
});

/** Returns a reply as the next request would send it. */
const sentBackOf = (message: JsonObject): JsonObject => {
  const reply = replyFromChatMessage(message);
  return Either.isLeft(reply) ? {} : toChatMessage(messageFromReply("1.1", "1.1", reply.right));
};

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe.skipIf(folder === null)("recorded streams", () => {
  test("are there", () => {
    expect(transcripts.length).toBeGreaterThan(0);
  });

  test.each(spread(transcripts, 12).map((transcript) => [transcript.id, transcript] as const))(
    "%s",
    async (_, transcript) => {
      const bytes = bytesOf(transcript.sse);
      const whole = await decodeChatStream(bytes);
      expect(asRecorded(whole)).toEqual(transcript.expect);
      const sentBack = whole.choices.map(({ message }) => canonical(sentBackOf(message)));
      expect(sentBack).toEqual(transcript.expect.choices.map(({ message }) => canonical(message)));
      for (const size of [1, 7, 61]) expect(await decodeChatStream(inPieces(bytes, size))).toEqual(whole);
    },
  );

  property.prop([
    fc.nat({ max: 10_000 }),
    fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 40 }),
  ])("decode the same in any pieces", async (which, sizes) => {
    const transcript = transcripts[which % transcripts.length];
    if (transcript === undefined) throw new Error("no recordings");
    const bytes = bytesOf(transcript.sse);
    const stream = new ChatAnswer(replyFromChatMessage);
    for (let at = 0, piece = 0; at < bytes.length; piece++) {
      const size = sizes[piece % sizes.length] ?? 1;
      stream.feed(bytes.subarray(at, at + size));
      at += size;
    }
    stream.end();
    expect(asRecorded(stream.decoded())).toEqual(transcript.expect);
  });
});

describe("the format", () => {
  const text = ["Grüße, ", "世界 👋🏽", "!"];
  const body = `${text.map((content) => chunkOf({ content })).join("")}data: [DONE]\n\n`;

  test.each(["\n", "\r\n", "\r"])("line ends %j", async (lineEnd) => {
    const bytes = bytesOf(body.replaceAll("\n", lineEnd));
    for (const size of [1, 7, 10_000]) {
      const chat = await decodeChatStream(inPieces(bytes, size));
      expect(chat.choices[0]?.message["content"]).toBe(text.join(""));
    }
  });

  test("comments, names, ids, junk and missing empty lines are passed over", async () => {
    const chat = await decode(
      ": ping\n\nevent: x\nid: 1\nretry: 5\nwhat is this\n",
      chunkOf({ content: "a" }).replace("\n\n", "\n"),
      chunkOf({ content: "b" }),
      "data: keep-alive\n\ndata:\n\n",
      chunkOf({ content: "c" }, { finish_reason: "stop" }).trimEnd(),
    );
    expect(chat.choices).toEqual([{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "abc" } }]);
  });

  test("nothing after the end mark counts but a report of usage", async () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2 };
    const late = [chunkOf({ content: "b" }), `data: ${JSON.stringify({ choices: [], usage })}\n\n`];
    const chat = await decode(chunkOf({ content: "a" }), "data: [DONE]\n\n", ...late);
    expect(chat.choices[0]?.message["content"]).toBe("a");
    expect(chat.usage).toEqual(usage);
  });

  test("a success that is reported like an error is none", async () => {
    const success = `data: ${JSON.stringify({ code: 0, message: "Success", sid: "a" })}\n\n`;
    expect((await decode(success, chunkOf({ content: "a" }))).error).toBeUndefined();
    expect((await decode(success.replace("0", "7"))).error).toMatchObject({ code: 7 });
  });

  test.each([
    'data: {"error":{"message":"no"}}\n\n',
    'event: error\ndata: {"error":{"message":"no"}}\n\n',
    'event: error\ndata: {"message":"no"}\n\n',
    'event: error\ndata: {"message":"no"}\ndata: [DONE]\n\n',
    'error: {"detail":"no","error":{"message":"no"}}\n\n',
    '{"error":{"message":"no"}}\n',
  ])("an error as %j is told", async (line) => {
    const bytes = bytesOf(chunkOf({ content: "a" }) + line);
    for (const size of [1, 61])
      expect((await decodeChatStream(inPieces(bytes, size))).error).toEqual({ message: "no" });
  });

  test("an error event may be a text, and may be a piece of the answer after all", async () => {
    expect((await decode("event: error\ndata: no\n\n")).error).toBe("no");
    const chat = await decode(`event: error\n${chunkOf({ content: "a" })}`);
    expect(chat).toEqual({
      ...chat,
      choices: [expect.objectContaining({ message: { role: "assistant", content: "a" } })],
    });
    expect(chat.error).toBeUndefined();
  });

  test("several objects in one line are pieces, whatever their texts have", async () => {
    const pieces = ['} {"', "a", "\\"].map((content) => JSON.stringify({ choices: [{ delta: { content } }] }));
    const chat = await decode(
      `data: ${pieces.join("")} ${pieces.join(" ")}\n\n`,
      chunkOf({}, { finish_reason: "stop" }),
    );
    expect(chat.choices).toMatchObject([{ finish_reason: "stop", message: { content: '} {"a\\} {"a\\' } }]);
  });

  test("events that lost the line breaks between them are pieces", async () => {
    const lost = chunkOf({ content: "a" }).trimEnd() + chunkOf({ content: "b" }, { finish_reason: "stop" }).trimEnd();
    const answer = new ChatAnswer(replyFromChatMessage);
    answer.feed(bytesOf(`${lost}data: [DONE]\n\n`));
    expect(answer.decoded().choices).toMatchObject([{ finish_reason: "stop", message: { content: "ab" } }]);
    expect(answer).toMatchObject({ done: true, damaged: false });
  });

  test("a row of objects that was cut off is noticed in time that does not grow with the square of its length", () => {
    const damaged = new ChatAnswer(replyFromChatMessage);
    damaged.feed(bytesOf(`data: {"a":1}{"b":"${'\\"}{'.repeat(500_000)}\n\n`));
    expect(damaged.damaged).toBe(true);
  });
});

describe("chunks", () => {
  test("of several choices stay apart", async () => {
    const choice = (index: number, content: string): string =>
      `data: ${JSON.stringify({ choices: [{ index, delta: { content }, finish_reason: content === "." ? "stop" : null }] })}\n\n`;
    const chat = await decode(choice(1, "b"), choice(0, "a"), choice(1, "."), choice(0, "."));
    expect(chat.choices).toMatchObject([
      { index: 1, finish_reason: "stop", message: { content: "b." } },
      { index: 0, finish_reason: "stop", message: { content: "a." } },
    ]);
  });

  test("with an empty reason after the true one do not hide it", async () => {
    const chat = await decode(
      chunkOf({}, { finish_reason: "" }),
      chunkOf({}, { finish_reason: "stop" }),
      chunkOf({}, { finish_reason: "" }),
    );
    expect(chat.choices[0]?.finish_reason).toBe("stop");
  });

  test("name their model and id once, and report the first error", async () => {
    const errors = ["first", "second"].map((message) => [
      { error: { message }, model: message, id: message },
      { object: "error", message, code: 500 },
      { choices: [{ index: 0, delta: {}, error: { message } }] },
    ]);
    for (const first of errors[0] ?? [])
      for (const second of errors[1] ?? []) {
        const chat = await decode(eventOf({ model: "one", id: "1", choices: [] }), eventOf(first), eventOf(second));
        expect(chat).toMatchObject({ model: "one", responseId: "1", error: { message: "first" } });
      }
  });

  test.each<[string, readonly unknown[], unknown]>([
    [
      "audio",
      [{ id: "a", data: "x" }, { id: "b", data: "y", expires_at: 1 }, { data: null, expires_at: 2 }, "z"],
      { id: "a", data: "xy", expires_at: 2 },
    ],
    ["audio", [{ id: "", data: "x" }, { id: "b" }, { id: null }], { id: "b", data: "x" }],
    ["annotations", [[1], [2], null], [1, 2]],
    ["annotations", [[1], "two"], "two"],
    ["service_note", ["one", "two", null], "two"],
    ["refusal", [null, "No", ", I", null], "No, I"],
    ["refusal", [null], null],
    ["refusal", [{ because: "No" }], null],
    [
      "reasoning_details",
      [
        [{ type: "reasoning.text", text: "a", id: "1" }],
        [{ type: "reasoning.text", text: "b" }],
        [{ type: "reasoning.text", text: "c", id: "2" }],
      ],
      [
        { type: "reasoning.text", text: "ab", id: "1" },
        { type: "reasoning.text", text: "c", id: "2" },
      ],
    ],
    [
      "reasoning_details",
      [
        [{ type: "reasoning.text", text: "a" }],
        [{ type: "reasoning.summary", summary: "b" }],
        [{ type: "reasoning.summary", summary: "c", format: "f" }],
        [{ type: "reasoning.summary", summary: "d", format: "f" }],
      ],
      [
        { type: "reasoning.text", text: "a" },
        { type: "reasoning.summary", summary: "bcd", format: "f" },
      ],
    ],
    [
      "reasoning_details",
      [[{ type: "reasoning.encrypted", data: "a" }], [{ type: "reasoning.encrypted", data: "b" }]],
      [
        { type: "reasoning.encrypted", data: "a" },
        { type: "reasoning.encrypted", data: "b" },
      ],
    ],
    ["tool_call_name", [{ a: 1 }, { b: 2 }], { b: 2 }],
  ])("have the field %s of the pieces %j", async (field, pieces, whole) => {
    const chat = await decode(...pieces.map((piece) => chunkOf({ [field]: piece })));
    expect(chat.choices[0]?.message[field]).toEqual(whole);
  });

  test.each([
    [[null, "stop"], "stop"],
    [["", "stop"], "stop"],
    [["null", "stop"], "stop"],
    [["null"], ""],
    [["stop", "tool_calls"], "tool_calls"],
    [["tool_calls", "stop"], "tool_calls"],
    [["tool_calls", "length"], "length"],
    [["length", "stop"], "length"],
    [["length", "tool_calls"], "length"],
  ])("that give the reasons %j in turn ended for %j", async (reasons, reason) => {
    const chat = await decode(...reasons.map((each) => chunkOf({}, { finish_reason: each })));
    expect(chat.choices[0]?.finish_reason).toBe(reason);
  });

  test.each([
    ["stop", "MAX_TOKENS", "MAX_TOKENS"],
    ["stop", "END", "stop"],
    ["length", "max_tokens", "length"],
    ["", "MAX_TOKENS", ""],
  ])("that end for %s, and for %s as the provider says, ended for %s", async (reason, native, ended) => {
    const chat = await decode(chunkOf({}, { finish_reason: reason, native_finish_reason: native }));
    expect(chat.choices[0]?.finish_reason).toBe(ended);
  });

  test("that are empty hide no message beside them", async () => {
    const message = { role: "assistant", content: "hi", tool_calls: [callOf("a", "f", "{}")] };
    const choices = [{ index: 0, delta: {}, message, finish_reason: "tool_calls" }];
    const chat = await decode(chunkOf({ content: "hi" }), `data: ${JSON.stringify({ choices })}\n\n`);
    expect(chat.choices[0]?.message).toEqual(message);
  });

  test("in the form of a whole message after its pieces say nothing new", async () => {
    const call = callOf("a", "f", '{"x":1}');
    const message = { role: "assistant", content: "hi there", reasoning_content: "hm", tool_calls: [call] };
    const chat = await decode(
      chunkOf({ role: "assistant", content: "hi ", reasoning_content: "hm" }),
      chunkOf({ content: "there" }),
      chunkOf({ tool_calls: [{ index: 0, ...call }] }),
      `data: ${JSON.stringify({ choices: [{ index: 0, message, finish_reason: "tool_calls" }] })}\n\n`,
    );
    expect(chat.choices[0]?.message).toEqual(message);
  });

  test("of reasoning details become the details they are pieces of", async () => {
    const detail = (fields: object): string =>
      chunkOf({ reasoning: "x", reasoning_details: [{ type: "reasoning.text", index: 0, ...fields }] });
    const encrypted = { type: "reasoning.encrypted", data: "AA==", index: 1 };
    const chat = await decode(
      detail({ text: "so " }),
      detail({ text: "then" }),
      detail({ signature: "s" }),
      chunkOf({ reasoning_details: [encrypted] }),
    );
    expect(chat.choices[0]?.message["reasoning_details"]).toEqual([
      { type: "reasoning.text", index: 0, text: "so then", signature: "s" },
      encrypted,
    ]);
  });
});

test("the listener is told the pieces of the answer in order", async () => {
  const deltas: LlmDelta[] = [];
  const body = [
    chunkOf({ role: "assistant", content: "" }),
    chunkOf({ reasoning: "hm", reasoning_content: "hm" }),
    chunkOf({ content: [{ type: "thinking", thinking: [{ type: "text", text: "so" }] }] }),
    chunkOf({ content: "a" }),
    `data: ${JSON.stringify({ choices: [{ index: 1, delta: { content: "other" } }] })}\n\n`,
    chunkOf({ refusal: "no" }),
    chunkOf({ tool_calls: [{ index: 3, ...callOf("a", "f", "") }] }),
    chunkOf({ tool_calls: [{ index: 3, function: { arguments: "{}" } }] }),
  ].join("");
  await decodeChatStream(bytesOf(body), (delta) => deltas.push(delta));
  expect(deltas).toEqual([
    { type: "reasoning", text: "hm" },
    { type: "reasoning", text: "so" },
    { type: "text", text: "a" },
    { type: "refusal", text: "no" },
    { type: "toolCall", index: 0, id: "a", name: "f", arguments: "" },
    { type: "toolCall", index: 0, id: "a", name: "f", arguments: "{}" },
  ]);
});

describe("texts that come whole so far", () => {
  test.each<readonly [readonly string[], string]>([
    [["I", "I am", "I am here", "I am here."], "I am here."],
    [["He", "Hello", "Hello there", "Hello there"], "Hello there"],
    [["Hello ", "Hello there"], "Hello there"],
    // These are pieces, although the second begins with the first.
    [["ha", "haha", "!"], "hahaha!"],
    [["#", "##", " Title"], "### Title"],
    [["ha", "haha"], "hahaha"],
    [["a", "b", "ab"], "abab"],
  ])("are one text, and pieces stay pieces: %j", async (pieces, expected) => {
    for (const field of ["content", "reasoning_content", "reasoning"]) {
      const deltas: LlmDelta[] = [];
      const answer = field === "content" ? "" : "Yes.";
      const end = chunkOf(answer === "" ? {} : { content: answer }) + chunkOf({}, { finish_reason: "stop" });
      const body = pieces.map((piece) => chunkOf({ [field]: piece })).join("") + end;
      const chat = await decodeChatStream(bytesOf(body), (delta) => deltas.push(delta));
      expect(chat.choices[0]?.message[field]).toBe(expected);
      expect(deltas.map((delta) => (delta.type === "toolCall" ? "" : delta.text)).join("")).toBe(expected + answer);
    }
  });

  test("are one reasoning under two names, shown once and before the text", async () => {
    const deltas: LlmDelta[] = [];
    const thought = (text: string): string => chunkOf({ reasoning: text, reasoning_content: text });
    const body = thought("Hello") + thought("Hello there") + chunkOf({ content: "Yes" });
    const chat = await decodeChatStream(bytesOf(body), (delta) => deltas.push(delta));
    expect(chat.choices[0]?.message).toMatchObject({ reasoning: "Hello there", reasoning_content: "Hello there" });
    expect(deltas).toEqual([
      { type: "reasoning", text: "Hello" },
      { type: "reasoning", text: " there" },
      { type: "text", text: "Yes" },
    ]);
  });
});

test("a text that was held back is shown with the finish reason, although the connection stays open", () => {
  const deltas: LlmDelta[] = [];
  const answer = new ChatAnswer(replyFromChatMessage, (delta) => deltas.push(delta));
  answer.feed(bytesOf(chunkOf({ content: "ha" }) + chunkOf({ content: "haha" })));
  expect(deltas).toEqual([{ type: "text", text: "ha" }]);
  answer.feed(bytesOf(chunkOf({}, { finish_reason: "stop" })));
  expect(deltas).toEqual(["ha", "haha"].map((text) => ({ type: "text", text })));
});

test("reasoning that was held back is shown before a call", async () => {
  const deltas: LlmDelta[] = [];
  const call = { tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "{}" } }] };
  const thoughts = ["I", "I'll look"].map((text) => chunkOf({ reasoning: text })).join("");
  await decodeChatStream(bytesOf(thoughts + chunkOf(call) + chunkOf({}, { finish_reason: "tool_calls" })), (delta) =>
    deltas.push(delta),
  );
  expect(deltas.map(({ type }) => type)).toEqual(["reasoning", "reasoning", "toolCall", "toolCall"]);
});

test("a call of Anthropic's among the parts of the content is a call", async () => {
  const part = { type: "tool_use", id: "a", name: "f", input: { x: 1 } };
  const chat = await decode(chunkOf({ content: [{ type: "text", text: "Look." }, part] }));
  expect(chat.choices[0]?.message).toMatchObject({
    content: [{ type: "text", text: "Look." }],
    tool_calls: [callOf("a", "f", '{"x":1}')],
  });
});

test("each call of a body is one, although its server gives all of them one id", () => {
  const answer = new ChatAnswer(replyFromChatMessage);
  const calls = [1, 2].map((x) => ({ id: "a", type: "function", function: { name: "f", arguments: `{"x":${x}}` } }));
  answer.readBody(JSON.stringify({ choices: [{ message: { tool_calls: calls }, finish_reason: "tool_calls" }] }));
  expect(answer.decoded().choices[0]?.message["tool_calls"]).toEqual(calls);
});
