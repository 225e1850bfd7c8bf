import { conversationMachine, type Message, start, type ToolOutcome, transition } from "@colloquy/machine";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { expect, test } from "vitest";
import { placeOfItem } from "../../src/items/item.ts";
import { itemsOfTurn, type SaidTurn, saidIn, turnOfMessages } from "../../src/items/turn-items.ts";
import { weather } from "../responses/responding.ts";

const itemsIn = async (host: ReturnType<typeof createHost>, turn: number) => {
  const state = await host.thread("t").state();
  const said = state === null ? null : saidIn(state, turn);
  return said === null ? null : itemsOfTurn(said);
};

/** Makes a message. Cast: only these members are read. */
const messageOf = (message: object): Message => message as Message;
const user = messageOf({ id: "u", role: "user", parts: [{ type: "text", text: "Where?" }] });
const call = (callId: string): object => ({ type: "toolCall", callId, name: "look", arguments: "{}" });
const said = (id: string, more: object = {}, ...calls: readonly object[]): Message =>
  messageOf({ id, role: "assistant", parts: [{ type: "text", text: "There." }, ...calls], ...more });
const result = (callId: string, outcome: ToolOutcome = "completed"): Message =>
  messageOf({ id: "r", role: "tool", parts: [{ type: "toolResult", callId, name: "look", outcome, content: [] }] });

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
  expect([items[2], items[5]]).toMatchObject([
    { content: [{ type: "output_text", text: "It" }] },
    { content: [{ type: "refusal", refusal: "No." }] },
  ]);
});

test.each<readonly [string, Partial<SaidTurn>, readonly string[]]>([
  ["a question", { messages: [user] }, ["message msg_3_0_0_t"]],
  [
    "replies in the order of their steps",
    { messages: [user, said("m1"), said("m2")], answer: "m2", steps: 2 },
    ["message msg_3_0_0_t", "message msg_3_1_0_t", "message msg_3_2_0_t"],
  ],
  ["an answer in its last step", { messages: [said("m1")], answer: "m1", steps: 4 }, ["message msg_3_4_0_t"]],
  [
    "a reply after the last step by its place",
    { messages: [user, said("m1"), said("m2")], steps: 1 },
    ["message msg_3_0_0_t", "message msg_3_1_0_t", "message msg_3_0_2_t"],
  ],
  [
    "a reply that no model made by its place",
    { messages: [user, said("m1", { synthesised: true })], steps: 1 },
    ["message msg_3_0_0_t", "message msg_3_0_1_t"],
  ],
  [
    "an imported reply by its place",
    { messages: [user, said("m1")], steps: 0 },
    ["message msg_3_0_0_t", "message msg_3_0_1_t"],
  ],
  [
    "a reply in the step of its calls",
    { messages: [said("m1", {}, call("3.2.0"))], steps: 3, callerTools: new Set(["look"]) },
    ["message msg_3_2_0_t", "function_call fc_3_2_0_t completed"],
  ],
  [
    "a reply with calls of another turn by its place",
    { messages: [user, said("m1", {}, call("7.2.0"))], steps: 3, callerTools: new Set(["look"]) },
    ["message msg_3_0_0_t", "message msg_3_0_1_t", "function_call fc_7_2_0_t completed"],
  ],
  [
    "a reply after one with calls in the next step",
    { messages: [said("m1", {}, call("3.2.0")), result("3.2.0"), said("m2")], steps: 3 },
    ["message msg_3_2_0_t", "mcp_call mcp_3_2_0_t completed", "message msg_3_3_0_t"],
  ],
  [
    "a call and a result of the caller's",
    { messages: [said("m1", {}, call("3.1.0")), result("3.1.0")], steps: 1, callerTools: new Set(["look"]) },
    ["message msg_3_1_0_t", "function_call fc_3_1_0_t completed", "function_call_output fco_3_1_0_t completed"],
  ],
  [
    "an imported call as the caller's",
    { messages: [said("m1", {}, call("3.1.0")), result("3.1.0")], steps: 0 },
    ["message msg_3_0_0_t", "function_call fc_3_1_0_t completed", "function_call_output fco_3_1_0_t completed"],
  ],
  [
    "a call that failed",
    { messages: [said("m1", {}, call("3.1.0")), result("3.1.0", "failed")], steps: 1 },
    ["message msg_3_1_0_t", "mcp_call mcp_3_1_0_t failed"],
  ],
  [
    "no call of a host's tool before its result",
    { messages: [said("m1", {}, call("3.1.0"))], steps: 1 },
    ["message msg_3_1_0_t"],
  ],
  [
    "a reply that broke off",
    { messages: [said("m1", { incomplete: true })], steps: 1 },
    ["message msg_3_1_0_t incomplete"],
  ],
  [
    "an answer that was cut",
    { messages: [said("m1"), said("m2")], answer: "m2", steps: 2, isCut: true },
    ["message msg_3_1_0_t", "message msg_3_2_0_t incomplete"],
  ],
])("a turn has the item of %s", (_, turn, expected) => {
  const none = {
    threadId: "t",
    number: 3,
    messages: [],
    answer: null,
    isCut: false,
    steps: 0,
    callerTools: new Set<string>(),
  };
  const items = itemsOfTurn({ ...none, ...turn });
  expect(
    items.map(({ type, id, status }) => {
      const isUsual = type === "message" && status === "completed";
      return `${type} ${id}${typeof status === "string" && !isUsual ? ` ${status}` : ""}`;
    }),
  ).toEqual(expected);
});

test("a message with an image says of how much detail that is, and has its text as it was", () => {
  const image = { type: "image", url: "https://example.org/cat.png" };
  const message = messageOf({ id: "u", role: "user", parts: [{ type: "text", text: "What is it?" }, image] });
  const turn = { threadId: "t", number: 1, messages: [message], answer: null, isCut: false, steps: 0 };
  expect(itemsOfTurn({ ...turn, callerTools: new Set() })).toMatchObject([
    {
      type: "message",
      status: "completed",
      content: [
        { type: "input_text", text: "What is it?" },
        { type: "input_image", detail: "auto", image_url: "https://example.org/cat.png" },
      ],
    },
  ]);
});

test("messages that no model has answered here are items by their place, and their calls are the caller's", () => {
  const items = itemsOfTurn(turnOfMessages("t", 0, [user, said("m1", {}, call("0.1.0")), result("0.1.0")]));
  expect(items.map(({ type, id }) => `${type} ${id}`)).toEqual([
    "message msg_0_0_0_t",
    "message msg_0_0_1_t",
    "function_call fc_0_1_0_t",
    "function_call_output fco_0_1_0_t",
  ]);
});

test("an open turn has the call that was run, while the caller's own call waits", async () => {
  const calls = toolCalls([
    { name: "look", arguments: {} },
    { name: "weather", arguments: { city: "Oslo" } },
  ]);
  const host = createHost({ llm: scriptedModel([calls]), store: memoryStore(), tools: [weather] });
  const look = { name: "look", description: "Looks.", input: { jsonSchema: { type: "object" } } } as const;
  const ask = host.ask("Oslo?", { threadId: "t", tools: [look] });
  ask.catch(() => {});
  for await (const part of ask) if (part.type === "toolResult") break;
  const types = async () => ((await itemsIn(host, 1)) ?? []).map(({ type, output }) => [type, output]);
  await expect
    .poll(types)
    .toEqual([["message"], ["function_call"], ["mcp_call", "Rain in Oslo"]].map(([type, output]) => [type, output]));
  ask.abort("enough");
  await host.close();
});
