import type { JsonObject } from "@colloquy/machine";
import { withUsage } from "../../src/llm/http-handlers.ts";
import { describe, expect, test } from "vitest";
import { openaiChat, openaiResponses } from "../../src/llm/openai.ts";
import { callOf, perform } from "./call.ts";
import { type Answer, answeringJson, chatServer } from "./server.ts";

const schema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] } as const;
const asTool = callOf({ tools: [], output: { name: "title", schema, mode: "tool" } });
const args = '{"title":"One"}';
const answer = {
  choices: [
    {
      index: 0,
      message: { tool_calls: [{ id: "a", type: "function", function: { name: "title", arguments: args } }] },
      finish_reason: "tool_calls",
    },
  ],
  output: [{ type: "function_call", call_id: "a", name: "title", arguments: args, status: "completed" }],
};

/** A server that refuses bodies for which `refuses` gives a message. */
const refusing = (refuses: (body: JsonObject) => string | null, status = 400): Answer => {
  return (request, response, body) => {
    const message = refuses(body);
    const refusal = { error: { message, type: "invalid_request_error" } };
    answeringJson(message === null ? answer : refusal, message === null ? 200 : status)(request, response, body);
  };
};

const ofObjects = (body: JsonObject): string | null =>
  typeof body["tool_choice"] === "object"
    ? "Invalid tool_choice type: 'object'. Supported string values: none, auto, required"
    : null;

describe("a server that refuses a parameter of the handler's own", () => {
  test.each([
    // lmstudio-ai/lmstudio-bug-tracker issue 670
    ["a choice by name", ofObjects, 2, "required"],
    // vellum-ai/vellum-assistant issue 40689
    [
      "each choice",
      ({ tool_choice: choice }: JsonObject) =>
        choice === undefined ? null : "Thinking mode does not support this tool_choice",
      3,
      undefined,
    ],
  ])("is asked again with less: %s", async (_, refuses, requests, choice) => {
    for (const make of [openaiChat, openaiResponses]) {
      const { baseURL, bodies } = await chatServer(refusing(refuses));
      const handler = make({ baseURL, apiKey: "none", model: "m", stream: false });
      for (const count of [requests, requests + 1]) {
        expect(await perform(handler, asTool).outcome).toMatchObject({ reply: { content: [{ text: args }] } });
        expect(bodies).toHaveLength(count);
      }
      expect(bodies.at(-1)?.["tool_choice"]).toEqual(choice);
    }
  });

  // openai/openai-agents-python issue 442
  const extra = "body.stream_options.include_usage: Extra inputs are not permitted";
  const ofUsage = (body: JsonObject): string | null => (body["stream_options"] === undefined ? null : extra);

  test("is asked again without a report of usage, and from then on at once", async () => {
    const { baseURL, bodies } = await chatServer(refusing(ofUsage, 422));
    const handler = openaiChat({ baseURL, apiKey: "none", model: "m" });
    for (const model of ["m", "m", "n"])
      expect(await perform(handler, callOf({ model: { model } })).outcome).toMatchObject({ type: "completed" });
    expect(bodies.map(({ model, stream_options: options }) => [model, options !== undefined])).toEqual([
      ["m", true],
      ["m", false],
      ["m", false],
      ["n", true],
      ["n", false],
    ]);
  });

  test("is asked again for each that it refuses", async () => {
    const { baseURL, bodies } = await chatServer(refusing((body) => ofUsage(body) ?? ofObjects(body)));
    const handler = openaiChat({ baseURL, apiKey: "none", model: "m" });
    expect(await perform(handler, asTool).outcome).toMatchObject({ type: "completed" });
    expect(bodies).toHaveLength(3);
    expect(await perform(handler, callOf({ tools: [] })).outcome).toMatchObject({ type: "completed" });
    expect(bodies.at(-1)).not.toHaveProperty("tool_choice");
  });

  test("is not asked again if the call itself has the parameter", async () => {
    const { baseURL, bodies } = await chatServer(refusing(ofUsage));
    const handler = openaiChat({ baseURL, apiKey: "none", model: "m" });
    const model = { stream_options: { include_usage: true } };
    expect(await perform(handler, callOf({ model })).outcome).toMatchObject({ failure: { kind: "bad_request" } });
    expect(bodies).toHaveLength(1);
  });
});

test.each<[JsonObject, boolean | undefined, unknown]>([
  [{ stream: true }, undefined, { include_usage: true }],
  [{ stream: true }, true, { include_usage: true }],
  [{ stream: true }, false, undefined],
  [{ stream: false }, true, undefined],
  [{ stream: true, stream_options: { include_usage: false } }, true, { include_usage: false }],
  [{ stream: true, stream_options: null }, true, undefined],
])("a request %j with includeUsage %s is sent with the stream options %j", (body, includeUsage, sent) => {
  expect(withUsage(body, includeUsage === undefined ? {} : { includeUsage })["stream_options"]).toEqual(sent);
});
