import { memoryStore } from "@colloquy/runtime-node";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { expect, it } from "vitest";
import { asked, seeing, sessionOf } from "../programs.ts";

it("two that take back a call at once take back two", async () => {
  const { qa } = seeing();
  expect(await qa.redo()).toEqual([]);
  await asked(qa, 1, 2, 3);
  const [last, before] = await Promise.all([qa.pop(), qa.pop()]);
  expect([last?.number, before?.number, await qa.count()]).toEqual([3, 2, 1]);
});

it("a copy of a copy knows what was called within the turns of the original", async () => {
  const llm = scriptedModel([reply("one"), reply("two"), reply("three")]);
  const qa = sessionOf(async ({ q }, { ask }) => ({ a: (await ask("node", q)).text }), { llm });
  await qa.call({ q: "Q1" });
  const copy = await qa.fork();
  await copy.call({ q: "Q2" });
  const again = await copy.fork();
  await again.call({ q: "Q3" });
  for (const turn of [1, 2, 3])
    expect((await again.trace(turn))?.calls.map(({ status }) => status)).toEqual(["completed"]);
  // A turn of the copy is not a turn of the original.
  expect(await qa.trace(2)).toBeNull();
});

it("a program may be called by what a run of it left behind, once that is over", async () => {
  const later = Promise.withResolvers<unknown>();
  const over = Promise.withResolvers<void>();
  const qa = sessionOf(({ q }) => {
    if (q === "Q1") void over.promise.then(() => qa.call({ q: "Q2" })).then(later.resolve, later.resolve);
    return { a: q };
  });
  await qa.call({ q: "Q1" });
  over.resolve();
  expect(await later.promise).toEqual({ a: "Q2" });
  expect(await qa.count()).toBe(2);
});

it("a program can change nothing of the memory that it is shown, nor of that which it shares", async () => {
  const store = memoryStore();
  const vandal = sessionOf(
    (_, { memory }) => {
      const [exchange] = memory.exchanges;
      if (exchange !== undefined) Object.assign(exchange, { inputs: { q: "forged" } });
      return { a: "A" };
    },
    { name: "vandal", lifespan: "shared" },
  );
  const qa = sessionOf(
    async (inputs, { memory }) => {
      const attack = await vandal.call(inputs).catch((error: unknown) => ({ a: String(error) }));
      return { a: `${attack.a} ${JSON.stringify(memory.exchanges[0]?.inputs ?? {})}` };
    },
    { store },
  );
  await qa.call({ q: "Q1" });
  expect((await qa.call({ q: "Q2" })).a).toMatch(/^TypeError: .*read only.* \{"q":"Q1"\}$/);
});
