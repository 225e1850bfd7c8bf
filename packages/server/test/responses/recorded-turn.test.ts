import { createHost, memoryStore, tool } from "@colloquy/runtime-node";
import { virtualClock } from "@colloquy/runtime-test";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { z } from "zod";
import { turnRecord } from "../../src/responses/recorded-turn.ts";
import { weather } from "./responding.ts";

test("a record of a turn has nothing of entries that are newer than the state it is made from", async () => {
  const llm = scriptedModel([toolCalls([{ name: "weather", arguments: { city: "Oslo" } }]), reply("Rain.")]);
  const host = createHost({ llm, store: memoryStore(), tools: [weather] });
  const thread = host.thread("t");
  await thread.ask("What is it like?");
  const entries = await thread.exportJournal();
  for (const { seq } of entries.slice(1)) {
    const state = await thread.at(seq);
    expect(await legsOf(turnRecord(entries, state, 1))).toEqual(
      await legsOf(turnRecord(entries.slice(0, seq + 1), state, 1)),
    );
  }
  await host.close();
});

test("a record of a turn has nothing of a later turn, nor its usage", async () => {
  const usage = { inputTokens: 3, outputTokens: 2 };
  const host = createHost({
    llm: scriptedModel([reply("One.", { usage }), reply("Two.", { usage })]),
    store: memoryStore(),
  });
  const thread = host.thread("t");
  for (const words of ["First", "Second"]) await thread.ask(words);
  const entries = await thread.exportJournal();
  const state = await thread.at(entries.length - 1);
  const end = entries.findLastIndex(({ event }) => event.type === "ask.received");
  const record = await legsOf(turnRecord(entries, state, 1));
  expect(record).toEqual(await legsOf(turnRecord(entries.slice(0, end), state, 1)));
  await host.close();
});

test("a record has nothing of an answer that was refused for its form", async () => {
  const host = createHost({ llm: scriptedModel([reply("Five."), reply('{"n":5}')]), store: memoryStore() });
  const thread = host.thread("t");
  const output = { name: "count", mode: "prompted", schema: { jsonSchema: { type: "object" } } } as const;
  await thread.ask("How many?", { output });
  const entries = await thread.exportJournal();
  const record = turnRecord(entries, await thread.at(entries.length - 1), 1);
  expect(entries.map(({ event }) => event.type)).toContain("output.refused");
  expect(record?.output.items).toMatchObject([{ type: "message", content: [{ text: '{"n":5}' }] }]);
  await host.close();
});

test("a record has the next response of a turn from its approval on, while its tool runs", async () => {
  const clock = virtualClock();
  const slow = tool({
    name: "slow",
    description: "Never ends.",
    approval: "always",
    input: z.object({}),
    run: () => new Promise<string>(() => {}),
  });
  const llm = scriptedModel([toolCalls([{ name: "slow", arguments: {} }])]);
  const host = createHost({ llm, clock, store: memoryStore({ clock }), tools: [slow] });
  const thread = host.thread("t");
  const ask = thread.ask("Go");
  for await (const part of ask) if (part.type === "approval.requested") break;
  await clock.advance(7_000);
  const at = clock.now();
  await thread.approve("t/1.1.0!approval-1");
  await clock.advance(7_000);
  const entries = await thread.exportJournal();
  const legs = turnRecord(entries, await thread.at(entries.length - 1), 1)?.legs.map(({ facts }) => facts);
  expect(legs).toMatchObject([
    { items: [{ type: "mcp_approval_request" }] },
    { createdAt: at, endedAt: null, items: [] },
  ]);
  ask.abort("enough");
  await expect(ask).rejects.toThrow("enough");
  await host.close();
});

/** Returns the facts and events so far of each leg, and the items of the last one. */
const legsOf = async (record: ReturnType<typeof turnRecord>) => {
  const legs = (record?.legs ?? []).map(async (leg) => [leg.facts, (await leg.log.read(0).next()).value]);
  return [await Promise.all(legs), record?.output.items];
};
