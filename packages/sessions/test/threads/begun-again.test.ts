import { systemClock } from "@colloquy/runtime-node";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { asked, questions, seeing, sessionOf } from "../programs.ts";

test("a thread that was deleted begins as any does, with the seed and the name of its program", async () => {
  const { qa, seen } = seeing({ seed: [{ inputs: { q: "Hi" }, outputs: { a: "Hello!" } }] });
  await asked(qa, 1);
  await qa.thread.delete();
  await asked(qa, 2);
  expect(seen.map(questions)).toEqual([[[0, "Hi"]], [[0, "Hi"]]]);
  expect((await qa.thread.state())?.context.metadata).toMatchObject({ program: "qa", version: "1" });
});

test("what a deleted thread had called answers no thread that takes its id", async () => {
  const llm = scriptedModel([reply("of the old one"), reply("of the new one")]);
  let later = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + later };
  const qa = sessionOf(async ({ q }, { ask }) => ({ a: (await ask("node", q)).text }), { llm, host: { clock } });
  expect(await qa.call({ q: "Q1" })).toEqual({ a: "of the old one" });
  const [left] = (await qa.trace(1))?.calls ?? [];
  await qa.thread.delete();
  later = 1;
  await expect(qa.call({ q: "Q1" })).rejects.toThrow(
    `thread "${left?.threadId}" was left by an earlier thread "qa", which was deleted: delete it, too`,
  );
});
