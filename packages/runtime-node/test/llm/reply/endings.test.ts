import { replyFromChatMessage, replyFromResponseItems } from "@colloquy/interchange";
import { describe, expect, test } from "vitest";
import { decodeResponseBody, decodeResponseStream } from "../../../src/index.ts";
import { ChatAnswer } from "../../../src/llm/reply/chat-answer.ts";
import { ResponseAnswer } from "../../../src/llm/reply/response-answer.ts";
import {
  argumentsDelta,
  callOf,
  created,
  ended,
  eventsOf,
  messageOf,
  responseOf,
  said,
  textDelta,
} from "../responses.ts";
import { eventOf } from "../server.ts";

const bytesOf = (...events: readonly object[]): Uint8Array => new TextEncoder().encode(events.map(eventOf).join(""));

/** Returns how an answer of the Responses API in one piece ended: its finish reason, or its failure. */
const endOf = (body: object): unknown => {
  const answer = new ResponseAnswer(replyFromResponseItems);
  answer.readBody(JSON.stringify(body));
  return shown(answer);
};

const shown = (answer: ResponseAnswer | ChatAnswer): unknown => {
  const outcome = answer.outcome({ now: 0 });
  if (outcome === null) return null;
  if (outcome.type === "completed") return outcome.finishReason;
  const { kind, retryable, message } = outcome.failure;
  return [kind, retryable, message];
};

describe("an answer of the Responses API", () => {
  test("is decoded from a stream and from a body, and nothing else is", async () => {
    const call = callOf("a", "Oslo");
    const events = [created, ...eventsOf(said, 0, textDelta("Sunny.")), ...eventsOf(call, 1, argumentsDelta("{"))];
    const bytes = bytesOf(...events, ended([said, call]));
    const decoded = {
      output: [said, call],
      status: "completed",
      usage: responseOf([]).usage,
      model: "model-1",
      responseId: "resp_1",
    };
    const deltas: unknown[] = [];
    expect(await decodeResponseStream(bytes, (delta) => deltas.push(delta))).toEqual(decoded);
    expect(deltas[0]).toEqual({ type: "text", text: "Sunny." });
    const cut = async function* () {
      for (const byte of bytes) yield Uint8Array.of(byte);
    };
    expect(await decodeResponseStream(cut())).toEqual(decoded);
    expect(await decodeResponseStream(bytesOf(...events))).toMatchObject({ status: null, usage: null });
    expect(decodeResponseBody(JSON.stringify(responseOf([said, call])))).toEqual(decoded);
    expect(decodeResponseBody(bytesOf(...events, ended([said, call])).toString())).toBeNull();
    expect(decodeResponseBody(new TextDecoder().decode(bytes))).toEqual(decoded);
    for (const text of ["", "words", "7", "[]", '["a"]']) expect(decodeResponseBody(text)).toBeNull();
    const error = { message: "no" };
    for (const text of [JSON.stringify({ error }), JSON.stringify([{ error }])])
      expect(decodeResponseBody(text)).toMatchObject({ status: null, error });
    expect(decodeResponseBody('{"odd":1}')).toEqual({ output: [], status: null, usage: null, error: { odd: 1 } });
  });

  const call = callOf("a", "Oslo");
  const custom = { type: "custom_tool_call", call_id: "a", name: "f", input: "x" };
  const search = { type: "web_search_call", id: "ws_1", status: "failed" };
  test.each<[object, unknown]>([
    [responseOf([said]), "stop"],
    [responseOf([call]), "tool_calls"],
    [responseOf([said, search]), "stop"],
    [responseOf([said], { status: undefined }), "stop"],
    [responseOf([said], { status: "incomplete" }), "incomplete"],
    [responseOf([said], { incomplete_details: { reason: "max_output_tokens" } }), "length"],
    [responseOf([said], { incomplete_details: { reason: "content_filter" } }), "content_filter"],
    [responseOf([messageOf("Hi", { status: "incomplete" })]), "incomplete"],
    [responseOf([messageOf("Hi", { status: "failed" })]), "incomplete"],
    [responseOf([messageOf("Hi", { status: "in_progress" })]), "stop"],
    [responseOf([{ ...call, status: "in_progress" }]), "tool_calls"],
    [responseOf([{ ...call, status: "incomplete" }]), "incomplete"],
    [responseOf([{ ...custom, status: "failed" }]), "incomplete"],
    [responseOf([{ ...custom, status: "in_progress" }]), "tool_calls"],
    [responseOf([], { error: { message: "no", code: "rate_limit_exceeded" } }), ["rate_limit", true, "no"]],
    ...["failed", "cancelled", "in_progress", "queued"].map((status): [object, unknown] => [
      responseOf([said], { status }),
      ["unknown", status !== "queued", `the server ended its answer with the status "${status}", and does not say why`],
    ]),
  ])("%j ends with %j", (body, end) => {
    expect(endOf(body)).toEqual(end);
  });

  test.each<[readonly object[], unknown]>([
    [[ended([said], {}, "done")], "stop"],
    [[{ type: "response.done", response: responseOf([said], { status: "" }) }], "stop"],
    [[{ type: "response.done", response: responseOf([said], { status: "queued" }) }], "stop"],
    [[ended([said], {}, "incomplete")], "incomplete"],
    [[ended([], { error: { message: "no", code: "rate_limit_exceeded" } }, "failed")], ["rate_limit", true, "no"]],
    [
      [ended([said], {}, "failed")],
      ["unknown", true, 'the server ended its answer with the status "failed", and does not say why'],
    ],
    [
      [created, ...eventsOf(said, 0)],
      ["truncated", true, "the stream ended without saying how"],
    ],
    [
      [{ type: "error", message: "slow", code: "rate_limit_exceeded", sequence_number: 3 }],
      ["rate_limit", true, "slow"],
    ],
    [[{ type: "error", error: { message: "slow", type: "timeout" } }], ["timeout", true, "slow"]],
    [[{ error: { message: "slow", type: "timeout" } }], ["timeout", true, "slow"]],
    [[{ code: "timeout", message: "slow" }], ["timeout", true, "slow"]],
    [
      [{ type: "error", message: "first" }, ended([said])],
      ["unknown", true, "first"],
    ],
    [[ended([said]), { type: "error", message: "late" }], "stop"],
  ])("of the events %j ends with %j", (events, end) => {
    const answer = new ResponseAnswer(replyFromResponseItems);
    answer.feed(bytesOf(...events));
    answer.end();
    expect(shown(answer)).toEqual(end);
  });

  test.each<readonly [number, object]>([
    [0, { type: "keepalive", sequence_number: 3 }],
    [0, created],
    [0, { ...textDelta(""), item_id: "m" }],
    [1, { ...textDelta("Sunny."), item_id: "m" }],
    [1, { type: "error", message: "no" }],
  ])("has %i events with a part of its answer in the event %j", (count, event) => {
    const answer = new ResponseAnswer(replyFromResponseItems);
    answer.feed(bytesOf(event));
    expect(answer.heard).toBe(count);
  });

  test("that has ended is whole, although its server reports an error on a line of its own after it", () => {
    const answer = new ResponseAnswer(replyFromResponseItems);
    answer.feed(new TextEncoder().encode(`${eventOf(ended([said]))}error: {"message":"late"}\n\n`));
    answer.end();
    expect(shown(answer)).toBe("stop");
  });

  test("that failed keeps its texts, as a text if there is one, and its usage", () => {
    const reasoning = { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Hm." }] };
    const partialOf = (...events: readonly object[]): unknown => {
      const answer = new ResponseAnswer(replyFromResponseItems);
      answer.feed(bytesOf(...events, { type: "error", message: "no" }));
      answer.end();
      return answer.outcome({ now: 0 });
    };
    const text = eventsOf(messageOf("Sunny."), 1, textDelta("Sunny."));
    const thought = eventsOf(reasoning, 0);
    expect(partialOf()).not.toHaveProperty("partial");
    expect(partialOf(created)).not.toHaveProperty("usage");
    expect(partialOf(...text)).toMatchObject({ partial: { content: "Sunny." } });
    expect(partialOf(...thought)).toMatchObject({ partial: { content: [{ type: "reasoning", text: "Hm." }] } });
    expect(partialOf(...thought, ...text)).toMatchObject({
      partial: {
        content: [
          { type: "reasoning", text: "Hm." },
          { type: "text", text: "Sunny." },
        ],
      },
    });
  });

  test("has the items that are named by no id and no index in the places where they began", () => {
    const bare = ["Oslo", "Lima"].map((city) => {
      const { id: _, ...call } = callOf(city, city);
      return call;
    });
    const [first, second] = bare;
    const added = bare.map((item) => ({ type: "response.output_item.added", item: { ...item, arguments: "" } }));
    const done = [second, first].map((item) => ({ type: "response.output_item.done", item }));
    const answer = new ResponseAnswer(replyFromResponseItems);
    answer.feed(bytesOf(...added, ...done, ended([])));
    answer.end();
    expect(answer.decoded().output).toEqual(bare);
  });
});

describe("a chat completion", () => {
  const chatOf = (...chunks: readonly object[]): ChatAnswer => {
    const answer = new ChatAnswer(replyFromChatMessage, () => {}, true);
    answer.feed(bytesOf(...chunks));
    answer.end();
    return answer;
  };

  const error = { message: "no", type: "timeout" };
  const called = { name: "look", arguments: "{}" };

  test.each<readonly [object, unknown]>([
    [{ message: { content: "Hi" }, finish_reason: "stop" }, "stop"],
    [{ message: { content: [{ type: "text", text: "Hi" }] }, finish_reason: "stop" }, "stop"],
    [{ message: { content: null, refusal: "No." }, finish_reason: "stop" }, "stop"],
    [{ message: { tool_calls: [{ id: "a", function: called }] }, finish_reason: "tool_calls" }, "tool_calls"],
    [{ message: { function_call: called }, finish_reason: "function_call" }, "function_call"],
    [{ message: { content: "Hi" } }, null],
    [{ message: { content: "" }, finish_reason: "stop" }, ["timeout", true, "no"]],
    [{ message: { content: null, tool_calls: [] }, finish_reason: "stop" }, ["timeout", true, "no"]],
    [{ message: { content: "Hi" }, finish_reason: "error" }, ["timeout", true, "no"]],
  ])("that has an error beside the choice %j, in one piece, ends with %j", (choice, end) => {
    const answer = new ChatAnswer(replyFromChatMessage);
    answer.readBody(JSON.stringify({ choices: [choice], error }));
    expect(shown(answer)).toEqual(end);
  });

  test("that has an error after a piece of its stream fails, with that piece", () => {
    const answer = chatOf({ choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }] }, { error });
    expect(answer.outcome({ now: 0 })).toMatchObject({
      type: "failed",
      failure: { kind: "timeout" },
      partial: { content: "Hi" },
    });
  });

  test.each<readonly [number, readonly object[]]>([
    [0, [{ delta: { role: "assistant" } }]],
    [0, [{ delta: { content: "", obfuscation: "x" } }]],
    [0, [{ delta: {}, finish_reason: "null" }]],
    [0, [{ delta: { tool_calls: [{ index: 0, id: "a", type: "function" }] } }]],
    [1, [{ delta: { tool_calls: [{ index: 0, function: { name: "look" } }] } }]],
    [1, [{ delta: { content: "Hi" } }]],
    [1, [{ text: "Hi" }]],
    [1, [{ message: { content: [{ type: "text", text: "Hi" }] } }]],
    [1, [{ error }]],
    [2, [{ delta: { content: "Hi" } }, { delta: {}, finish_reason: "stop" }]],
    [
      1,
      [
        { delta: {}, finish_reason: "stop" },
        { delta: {}, finish_reason: "stop" },
      ],
    ],
    [2, [{ delta: {}, finish_reason: "stop" }, { delta: { content: "Hi" } }]],
  ])("has %i events with a part of its answer in the choices %j", (count, choices) => {
    expect(chatOf(...choices.map((choice) => ({ choices: [{ index: 0, ...choice }] }))).heard).toBe(count);
  });

  test("of one choice keeps even a blank text, and of no choice is no answer", () => {
    const endOfBody = (...choices: readonly object[]): unknown => {
      const answer = new ChatAnswer(replyFromChatMessage, () => {}, true);
      answer.readBody(JSON.stringify({ choices }));
      return answer.outcome({ now: 0 });
    };
    expect(endOfBody({ message: { content: "\n" }, finish_reason: "stop" })).toMatchObject({
      reply: { content: "\n" },
    });
    expect(endOfBody()).toBeNull();
  });

  test("in several choices shows the text of the first that has one, and the calls of all", () => {
    const deltasOf = (...choices: readonly object[]): readonly unknown[] => {
      const deltas: unknown[] = [];
      const answer = new ChatAnswer(replyFromChatMessage, (delta) => deltas.push(delta), true);
      answer.feed(bytesOf(...choices.map((choice) => ({ choices: [choice] }))));
      answer.end();
      return deltas;
    };
    const text = (index: number, content: string): object => ({ index, delta: { content } });
    const given = { name: "look", arguments: '{"city":"Oslo"}' };
    const calls = { index: 1, delta: { tool_calls: [{ index: 0, id: "a", function: given }] } };
    const call = { type: "toolCall", index: 0, id: "a", ...given };
    expect(deltasOf(text(0, "One"), text(1, "Two"), calls)).toEqual([{ type: "text", text: "One" }, call]);
    expect(deltasOf(text(1, "Two"), calls)).toEqual([{ type: "text", text: "Two" }, call]);
  });

  test("in several choices has the calls of all if it is one reply, and else each choice has its own", () => {
    const calls = ["a", "b"].map((id) => ({ id, type: "function", function: called }));
    const choices = calls.map((call, index) => ({
      index,
      delta: { tool_calls: [{ index: 0, ...call }] },
      finish_reason: "tool_calls",
    }));
    const callsOf = (isOne: boolean): readonly unknown[] => {
      const answer = new ChatAnswer(replyFromChatMessage, () => {}, isOne);
      answer.feed(bytesOf({ choices }));
      answer.end();
      return answer.decoded().choices.map(({ message }) => message["tool_calls"]);
    };
    expect(callsOf(true)).toEqual([calls]);
    expect(callsOf(false)).toEqual(calls.map((call) => [call]));
  });

  test("whose choices are a map by index, or one that is no list, is read", () => {
    for (const choices of [
      { "0": { delta: { content: "Hi" }, finish_reason: "stop" } },
      { delta: { content: "Hi" }, finish_reason: "stop" },
    ])
      expect(chatOf({ choices }).outcome({ now: 0 })).toMatchObject({
        reply: { content: "Hi" },
        finishReason: "stop",
      });
  });

  test.each<[string, unknown]>([
    ["error", ["unknown", true, 'the server ended the answer with the reason "error"']],
    ["network_error", ["unknown", true, 'the server ended the answer with the reason "network_error"']],
    ["terror", "terror"],
    ["stop", "stop"],
  ])("that ends for the reason %s ends with %j", (reason, end) => {
    expect(shown(chatOf({ choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: reason }] }))).toEqual(end);
  });

  test("with calls that ends for an unknown reason fails, lest half of the calls run", () => {
    const called = { index: 0, id: "a", function: { name: "look", arguments: "{}" } };
    const ending = (reason: string): unknown =>
      shown(chatOf({ choices: [{ index: 0, delta: { tool_calls: [called] }, finish_reason: reason }] }));
    for (const known of [
      "tool_calls",
      "STOP",
      "end_turn",
      "eos",
      "EOT",
      "complete",
      "finished",
      "done",
      "normal",
      "natural",
      "success",
      "function_call",
      "length",
    ])
      expect(ending(known)).toBe(known);
    for (const unknown of ["repetition", "OTHER", "FINISH_REASON_UNSPECIFIED", "MODEL_ARMOR", "append"])
      expect(ending(unknown)).toEqual([
        "unknown",
        true,
        `the server's answer has the call of "look", and ended with the unknown reason "${unknown}"`,
      ]);
  });

  test("that has nothing but its reason says what became of it", () => {
    const ending = (reason: string, delta: object = {}): unknown =>
      shown(chatOf({ choices: [{ index: 0, delta: { content: " ", ...delta }, finish_reason: reason }] }));
    const nothing = "the server's answer has neither text nor calls";
    const kept = [
      "stop",
      "END-TURN",
      "eos_token",
      "length",
      "max_output_tokens",
      "content_filter",
      "content_filter: RECITATION",
      "content_filtered",
      "image_safety",
      "prohibited_content",
      "spii",
      "refusal",
      "guardrail_intervened",
    ];
    for (const reason of kept) expect(ending(reason)).toBe(reason);
    for (const reason of ["tool_calls", "insufficient_system_resource", "MALFORMED_FUNCTION_CALL"])
      expect(ending(reason)).toEqual(["unknown", true, `${nothing}, and ended with the reason "${reason}"`]);
    for (const reason of ["model_context_window_exceeded", "model_length"])
      expect(ending(reason)).toEqual([
        "context_length",
        false,
        `the prompt left no room for an answer, which ended with the reason "${reason}"`,
      ]);
    expect(ending("stop", { reasoning_content: "Hm." })).toEqual([
      "unknown",
      true,
      `${nothing}, only reasoning, and ended with the reason "stop"`,
    ]);
    expect(ending("length", { reasoning_content: "Hm." })).toBe("length");
  });
});
