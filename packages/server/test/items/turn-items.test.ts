import { conversationMachine, start, transition } from "@colloquy/machine";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { expect, test } from "vitest";
import { placeOfItem } from "../../src/items/item.ts";
import { itemsOfTurn, saidIn } from "../../src/items/turn-items.ts";
import { weather } from "../responses/responding.ts";

const itemsIn = async (host: ReturnType<typeof createHost>, turn: number) => {
  const state = await host.thread("t").state();
  const said = state === null ? null : saidIn(state, turn);
  return said === null ? null : itemsOfTurn(said);
};

test("a turn is items in order: what was asked, what ran here, and the answer, each with an id that says where it stands", async () => {
  const llm = scriptedModel([toolCalls([{ name: "weather", arguments: { city: "Oslo" } }]), reply("It rains.")]);
  const host = createHost({ llm, store: memoryStore(), tools: [weather] });
  await host.ask("Oslo?", { threadId: "t" });
  const items = await itemsIn(host, 1);
  expect(items?.map(({ type, role }) => role ?? type)).toEqual(["user", "mcp_call", "assistant"]);
  expect(items?.map(({ id }) => placeOfItem(id))).toMatchObject([
    { turn: 1, step: 0, index: 0, threadId: "t" },
    { turn: 1, step: 1, index: 0, threadId: "t" },
    { turn: 1, step: 2, index: 0, threadId: "t" },
  ]);
  expect(items?.[1]).toMatchObject({ output: "Rain in Oslo", status: "completed" });
  expect(await itemsIn(host, 2)).toBeNull();
});

test.each([
  ["whole", "stop", "completed"],
  ["cut", "length", "incomplete"],
])("itemsOfTurn numbers the pieces of a %s reply separately for each kind of item", (_, finishReason, last) => {
  const machine = conversationMachine();
  let { state } = start(machine, { threadId: "t", at: 0 });
  const content = [
    { type: "reasoning", text: "Hm." },
    { type: "text", text: "It" },
    { type: "reasoning", text: "Or?" },
    { type: "text", text: "rains." },
    { type: "refusal", text: "No." },
  ] as const;
  for (const event of [
    { type: "ask.received", at: 1, askId: "a", input: "Oslo?" },
    { type: "llm.completed", at: 2, effectId: "t/1.1#1", reply: { content }, finishReason },
  ] as const)
    ({ state } = transition(machine, state, event));
  const said = saidIn(state, 1);
  const items = said === null ? [] : itemsOfTurn(said);
  expect(
    items.map(({ id, status }) => [id.split("_", 1)[0], placeOfItem(id)?.step, placeOfItem(id)?.index, status]),
  ).toEqual([
    ["msg", 0, 0, "completed"],
    ["rs", 1, 0, "completed"],
    ["msg", 1, 0, "completed"],
    ["rs", 1, 1, "completed"],
    ["msg", 1, 1, "completed"],
    ["msg", 1, 2, last],
  ]);
});
