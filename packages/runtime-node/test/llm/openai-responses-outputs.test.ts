import { messageFromReply, textOf } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import {
  argumentsDelta,
  callOf,
  ended,
  eventsOf,
  exchange,
  messageOf,
  offered,
  responseOf,
  answered,
  streaming,
  weather,
} from "./responses.ts";
import { answeringJson } from "./server.ts";

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

  test("is the final answer, and what was said on the way goes back as it was", async () => {
    const onTheWay = messageOf("Let me see.", { id: "msg_0", phase: "commentary" });
    const final = messageOf(json, { phase: "final_answer" });
    const thought = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" };
    const output = [onTheWay, thought, final];
    for (const answer of [
      streaming(...output.flatMap((item, at) => eventsOf(item, at)), ended([])),
      answeringJson(responseOf(output)),
    ])
      for (const mode of ["native", "prompted"] as const) {
        const { outcome } = await exchange(answer, wanted(mode));
        if (outcome.type === "failed") throw new Error(outcome.failure.message);
        const message = messageFromReply("1.1", "1.1", outcome.reply);
        expect(textOf(message)).toBe(json);
        expect(message.parts[0]).toMatchObject({ type: "reasoning", text: "Let me see." });
        expect((await exchange(answered, { messages: [message] })).sent["input"]).toEqual([
          onTheWay,
          thought,
          expect.objectContaining({ id: "msg_1", phase: "final_answer" }),
        ]);
      }
    const { outcome } = await exchange(answeringJson(responseOf([onTheWay])), wanted("native"));
    expect(outcome).toMatchObject({ reply: { content: "Let me see." } });
    const { outcome: spoken } = await exchange(answeringJson(responseOf(output)));
    expect(spoken).toMatchObject({
      reply: {
        content: [{ type: "text", text: "Let me see." }, { type: "reasoning" }, { type: "text", text: json }],
      },
    });
  });
});
