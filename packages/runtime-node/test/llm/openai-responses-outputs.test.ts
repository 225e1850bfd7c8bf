import { describe, expect, test } from "vitest";
import {
  argumentsDelta,
  callOf,
  ended,
  eventsOf,
  exchange,
  messageOf,
  offered,
  answered,
  streaming,
  weather,
} from "./responses.ts";

describe("an output", () => {
  const schema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] } as const;
  const wanted = (mode: "native" | "tool" | "prompted") => ({ output: { name: "title", schema, mode } });
  const json = '{"title":"One"}';

  test("native is asked for by the format of the text, beside what else is said of it", async () => {
    const model = { text: { verbosity: "low" } };
    const { sent, outcome } = await exchange(streaming(ended([messageOf(json)])), { ...wanted("native"), model });
    const format = {
      type: "json_schema",
      name: "title",
      schema: { ...schema, additionalProperties: false },
      strict: true,
    };
    expect(sent["text"]).toEqual({ verbosity: "low", format });
    expect(outcome).toMatchObject({ reply: { content: json } });
  });

  test("by a tool is asked for as one that has to be called, and comes as text", async () => {
    const item = { ...callOf("a", ""), name: "title", arguments: json };
    const answer = streaming(
      ...eventsOf(item, 0, argumentsDelta('{"title":'), argumentsDelta('"One"}')),
      ended([item]),
    );
    const { sent, outcome, deltas } = await exchange(answer, { ...wanted("tool"), tools: [] });
    expect(sent).toMatchObject({ tools: [{ name: "title" }], tool_choice: { type: "function", name: "title" } });
    expect(outcome).toMatchObject({ reply: { content: [{ type: "text", text: json }] } });
    expect(deltas).toEqual([
      { type: "text", text: '{"title":' },
      { type: "text", text: '"One"}' },
    ]);
    const beside = await exchange(answer, { ...wanted("tool"), ...offered }, [weather]);
    expect(beside.sent).toMatchObject({ tools: [{ name: "weather" }, { name: "title" }], tool_choice: "required" });
    const model = { tools: [{ type: "web_search" }] };
    const given = await exchange(answer, { ...wanted("tool"), tools: [], model });
    expect(given.sent).toMatchObject({ tools: [...model.tools, { name: "title" }], tool_choice: "required" });
  });

  test("in words is asked for in a message", async () => {
    const { sent } = await exchange(answered, wanted("prompted"));
    expect(JSON.stringify(sent["input"])).toContain("Answer with JSON that fits this JSON Schema");
    expect(sent).not.toHaveProperty("text");
  });
});
