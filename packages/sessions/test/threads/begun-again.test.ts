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

test.each(["persistent", "episodic"] as const)(
  "a nested program (%s) rejects a call from a new thread that has the id of a deleted one",
  async (lifespan) => {
    let later = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + later };
    const { qa: child, seen } = seeing({ name: "child", lifespan });
    const parent = sessionOf((inputs) => child.call(inputs), { name: "parent", host: { clock } });
    await asked(parent, 1);
    await parent.thread.delete();
    later = 1;
    await expect(parent.call({ q: "Q1" })).rejects.toThrow(/was left by an earlier thread "parent", which was deleted/);
    expect(seen.length).toBe(1);
  },
);

test("a caller may use the thread of a nested program directly, before and after the parent does", async () => {
  const { qa: child, seen } = seeing({ name: "child" });
  const parent = sessionOf((inputs) => child.call(inputs), { name: "parent" });
  for (const view of [child.under(parent), parent, child.under(parent)]) await asked(view, seen.length);
  expect(seen.map(({ exchanges }) => exchanges.length)).toEqual([0, 1, 2]);
  // Here the parent's thread comes first.
  const other = parent.user("ada");
  for (const view of [other, child.under(other)]) await asked(view, seen.length);
  expect(seen.slice(3).map(({ exchanges }) => exchanges.length)).toEqual([0, 1]);
});
