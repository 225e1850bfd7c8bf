import { expect, it } from "vitest";
import * as z from "zod";
import { session } from "../src/index.ts";

it("a program remembers what it was called with", async () => {
  const qa = session(({ question }, { memory }) => ({ answer: `${question} after ${memory.exchanges.length}` }), {
    name: "qa",
    signature: { inputs: z.object({ question: z.string() }), outputs: z.object({ answer: z.string() }) },
  });
  expect(await qa.call({ question: "Q1" })).toEqual({ answer: "Q1 after 0" });
  expect(await qa.call({ question: "Q2" })).toEqual({ answer: "Q2 after 1" });
  expect((await qa.turns()).map(({ number, inputs }) => [number, inputs.question])).toEqual([
    [1, "Q1"],
    [2, "Q2"],
  ]);
  await qa.close();
});
