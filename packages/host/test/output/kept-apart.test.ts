import type { LlmContext, LlmOutcome } from "@colloquy/host";
import * as z from "zod";
import { describe, expect, test } from "vitest";
import { errorOf, held, partsOf, says, settle, stage } from "../stage.ts";

const schema = z.object({ title: z.string() });
const saying = (value: unknown): LlmOutcome => says(JSON.stringify(value));
const fits = saying({ title: "One two" });

describe("what is no output", () => {
  test("is what a JSON Schema allows only since it was changed, which is after the ask", async () => {
    const required = ["title"];
    const { host } = stage({ script: [saying({}), saying({})] });
    const jsonSchema = { type: "object", properties: { title: { type: "string" } }, required };
    const options = { askId: "a", output: { schema: { jsonSchema }, name: "title", mode: "prompted" } } as const;
    await host.ask("A title?", { askId: "a" });
    const asked = host.ask("A title?", options);
    required.pop();
    expect(await errorOf(asked)).toMatchObject({ name: "OutputError", failure: { kind: "invalid" } });
  });

  test("is an answer whose words were redacted, whatever the schema allows", async () => {
    const { host } = stage({ script: [saying("secret")] });
    const options = { askId: "a", output: { schema: z.string(), name: "word", mode: "prompted" } } as const;
    expect((await host.ask("A word?", options)).output).toBe("secret");
    await host.thread().redact({ turn: 1 });
    expect(await errorOf(host.ask("A word?", options))).toMatchObject({
      name: "OutputError",
      failure: { kind: "unchecked", message: "its words were redacted" },
    });
  });

  test("is one that is nested by the thousand, in pieces or at once: it is refused, and mended", async () => {
    const deep = "[".repeat(10_000) + "]".repeat(10_000);
    const inPieces = async (_: unknown, { onDelta }: LlmContext): Promise<LlmOutcome> => {
      for (const text of [deep.slice(0, 5_000), deep.slice(5_000)]) onDelta({ type: "text", text });
      return says(deep);
    };
    const { host } = stage({ script: [inPieces, says(deep), fits] });
    const handle = host.ask("A title?", { output: { schema, name: "title" } });
    await partsOf(handle);
    expect((await handle).output).toEqual({ title: "One two" });
  });
});

describe("the tool of an output and a tool of another ask", () => {
  const ofCaller = [{ name: "title", description: "" }];
  const ofOutput = { schema, name: "title", mode: "tool" } as const;

  test.each([
    ["the turn has the tool", { tools: ofCaller }, { output: ofOutput }],
    ["the turn has the output", { output: ofOutput }, { tools: ofCaller }],
  ])("have one name in no turn: where %s, an ask that would join it is refused", async (_, first, second) => {
    const call = held();
    const { host } = stage({ script: [call.step] });
    const busy = host.ask("Hello", first);
    await settle();
    const refused = await errorOf(host.ask("And", { ...second, overlap: "steer" }));
    expect(refused).toMatchObject({ name: "AskRefusedError", refusal: { kind: "invalid" } });
    call.answer(fits);
    await busy;
  });

  test("are not merged into one turn: the later ask has the next", async () => {
    const call = held();
    const { host, clock, model } = stage({
      machine: { overlap: { type: "merge", max: 3 } },
      script: [call.step, fits, fits],
    });
    const busy = host.ask("Hello");
    await settle();
    const asked = host.ask("A title?", { output: ofOutput });
    const other = host.ask("And", { tools: ofCaller });
    call.answer(says("Hi."));
    await busy;
    await clock.advance(0);
    expect((await asked).turn).toBe(2);
    await clock.advance(0);
    expect((await other).turn).toBe(3);
    expect(model.calls.map(({ tools }) => tools?.map(({ name }) => name))).toEqual([[], [], ["title"]]);
  });
});
