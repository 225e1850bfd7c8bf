import type { CallLlm } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { callOf, handlerFor, perform } from "./call.ts";
import { begin, chatServer, chunkOf, eventOf } from "./server.ts";

const schema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] } as const;
const body = z.looseObject({ messages: z.array(z.object({ role: z.string(), content: z.unknown() })) });

/** Makes a call with an expected output. Returns its request and outcome. */
const exchange = async (
  mode: "native" | "tool" | "prompted",
  fields: Partial<CallLlm>,
  ...chunks: readonly object[]
) => {
  const { baseURL, bodies } = await chatServer((_, response) => {
    begin(response, ...chunks);
    response.end(eventOf(chunkOf({}, "stop")) + "data: [DONE]\n\n");
  });
  const call = callOf({ output: { name: "title", schema, mode }, ...fields });
  const { outcome, deltas } = perform(handlerFor(baseURL), call);
  return { outcome: await outcome, deltas, sent: body.parse(bodies[0]) };
};

const answer = '{"title":"One"}';

describe("an output", () => {
  test("native is asked for as a strict JSON schema, and is the text", async () => {
    const { sent, outcome } = await exchange("native", {}, chunkOf({ content: answer }));
    expect(sent).toMatchObject({
      response_format: {
        type: "json_schema",
        json_schema: { name: "title", schema: { ...schema, additionalProperties: false }, strict: true },
      },
    });
    expect(outcome).toMatchObject({ reply: { content: answer } });
  });

  test("of a call whose parameters say otherwise is asked for as they say", async () => {
    const model = { response_format: { type: "json_object" } };
    const { sent } = await exchange("native", { model }, chunkOf({ content: answer }));
    expect(sent["response_format"]).toEqual(model.response_format);
  });

  test("by a tool is asked for as one that has to be called, and comes as text", async () => {
    const call = { index: 0, id: "a", type: "function", function: { name: "title", arguments: '{"title":' } };
    const { sent, outcome, deltas } = await exchange(
      "tool",
      { tools: [] },
      chunkOf({ tool_calls: [call] }),
      chunkOf({ tool_calls: [{ index: 0, function: { arguments: '"One"}' } }] }),
    );
    expect(sent).toMatchObject({
      tools: [{ type: "function", function: { name: "title", parameters: schema } }],
      tool_choice: { type: "function", function: { name: "title" } },
    });
    expect(outcome).toMatchObject({ reply: { content: [{ type: "text", text: answer }] } });
    expect(deltas).toEqual([
      { type: "text", text: '{"title":' },
      { type: "text", text: '"One"}' },
    ]);
  });

  test("by a tool is asked for as one more where the parameters bring tools of their own", async () => {
    const call = { index: 0, id: "a", type: "function", function: { name: "title", arguments: answer } };
    const model = { tools: [{ type: "web_search" }] };
    const { sent, outcome } = await exchange("tool", { tools: [], model }, chunkOf({ tool_calls: [call] }));
    expect(sent).toMatchObject({ tools: [...model.tools, { function: { name: "title" } }], tool_choice: "required" });
    expect(outcome).toMatchObject({ reply: { content: [{ type: "text", text: answer }] } });
  });

  test("by a tool names that tool where the parameters bring an empty list of tools", async () => {
    const call = { index: 0, id: "a", type: "function", function: { name: "title", arguments: answer } };
    const { sent } = await exchange("tool", { tools: [], model: { tools: [] } }, chunkOf({ tool_calls: [call] }));
    expect(sent["tools"]).toMatchObject([{ function: { name: "title" } }]);
    expect(sent["tool_choice"]).toEqual({ type: "function", function: { name: "title" } });
  });

  test("by words is asked for in the system message, and nothing else is sent", async () => {
    const { sent } = await exchange("prompted", {}, chunkOf({ content: answer }));
    expect(sent.messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(JSON.stringify(sent.messages[0])).toContain("Answer with JSON that fits this JSON Schema");
    expect(sent).not.toHaveProperty("response_format");
    expect(sent).not.toHaveProperty("tools");
  });
});
