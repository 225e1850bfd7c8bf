import { createOpenAI } from "@ai-sdk/openai";
import { createOpenResponses } from "@ai-sdk/open-responses";
import { Agent, OpenAIProvider, Runner, tool as agentTool } from "@openai/agents";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, isStepCount, streamText, tool } from "ai";
import { fails, reply, scriptedModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { z } from "zod";
import { responding, weather } from "./responding.ts";

const lookUpCall = toolCalls([{ name: "look_up", arguments: { id: "7" } }]);
const lookUp = { description: "Looks up a customer.", inputSchema: z.object({ id: z.string() }), execute: () => "Ada" };

const fetching =
  ({ server }: ReturnType<typeof responding>): typeof fetch =>
  async (url, init) =>
    server.fetch(new Request(url, init));

test("the AI SDK's OpenAI provider runs its own tools, and names what is stored instead of sending it", async () => {
  const model = scriptedModel([lookUpCall, reply("It is Ada."), reply("Grace.")]);
  const serving = responding(model);
  const openai = createOpenAI({ apiKey: "none", baseURL: "http://localhost/v1", fetch: fetching(serving) });
  const asked = { model: openai.responses("any"), tools: { look_up: tool(lookUp) }, stopWhen: isStepCount(3) };
  const first = await generateText({ ...asked, prompt: "Who is 7?" });
  expect(first.text).toBe("It is Ada.");
  const more = await generateText({
    ...asked,
    messages: [{ role: "user", content: "Who is 7?" }, ...first.response.messages, { role: "user", content: "And 8?" }],
  });
  expect(more.text).toBe("Grace.");
  // Everything is in one thread, so nothing was sent twice.
  const [thread, ...others] = (await serving.host.threads()).threads;
  expect(others).toEqual([]);
  const state = await serving.host.thread(thread?.threadId).state();
  expect(state?.context.conversation.turns.length).toBe(2);
  model.assertComplete();
});

test("the AI SDK streams text, reasoning and tools that run here, and throws nothing at it", async () => {
  const model = scriptedModel([
    streams([{ reasoning: "Hm. " }, "Let me see. ", { toolCall: { name: "weather", arguments: { city: "Oslo" } } }]),
    reply("It rains."),
  ]);
  const serving = responding(model, { tools: [weather] });
  const openai = createOpenAI({ apiKey: "none", baseURL: "http://localhost/v1", fetch: fetching(serving) });
  const result = streamText({ model: openai.responses("any"), prompt: "Oslo?" });
  const types = new Set<string>();
  for await (const part of result.fullStream) types.add(part.type);
  expect(await result.text).toBe("Let me see. It rains.");
  expect(types.has("error")).toBe(false);
  expect(types.has("reasoning-delta")).toBe(true);
});

test("the AI SDK's provider for open responses, which sends everything each time, gets answers", async () => {
  const model = scriptedModel([lookUpCall, reply("It is Ada.")]);
  const serving = responding(model);
  const open = createOpenResponses({
    name: "colloquy",
    url: "http://localhost/v1/responses",
    fetch: fetching(serving),
  });
  const result = await generateText({
    model: open("any"),
    tools: { look_up: tool(lookUp) },
    stopWhen: isStepCount(3),
    prompt: "Who is 7?",
  });
  expect(result.text).toBe("It is Ada.");
  model.assertComplete();
});

test("OpenAI's agents run their tools on a conversation, and go on by the response before, streamed or not", async () => {
  const model = scriptedModel([lookUpCall, reply("It is Ada."), reply("Ada again."), reply("By the id.")]);
  const { client, host } = responding(model);
  await host.thread("conv_1").start();
  const modelProvider = new OpenAIProvider({ openAIClient: client, useResponses: true });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const { description, execute, inputSchema: parameters } = lookUp;
  const agent = new Agent({
    name: "desk",
    instructions: "You know the customers.",
    model: "any",
    tools: [agentTool({ name: "look_up", description, parameters, execute: async () => execute() })],
  });
  const first = await runner.run(agent, "Who is 7?", { conversationId: "conv_1" });
  expect(first.finalOutput).toBe("It is Ada.");
  const streamed = await runner.run(agent, "Again?", { conversationId: "conv_1", stream: true });
  await streamed.completed;
  expect(streamed.finalOutput).toBe("Ada again.");
  const last = streamed.lastResponseId ?? "";
  const byId = await runner.run(agent, "By id?", { previousResponseId: last });
  expect(byId.finalOutput).toBe("By the id.");
  expect(model.calls.at(-1)?.messages.at(0)).toMatchObject({ role: "system" });
  expect((await host.thread("conv_1").state())?.context.conversation.turns.length).toBe(3);
  model.assertComplete();
});

test("LangChain's chat model asks, and goes on behind the response before", async () => {
  const model = scriptedModel([reply("Hello."), reply("Again.")]);
  const serving = responding(model);
  const chat = new ChatOpenAI({
    model: "any",
    apiKey: "none",
    useResponsesApi: true,
    configuration: { baseURL: "http://localhost/v1", fetch: fetching(serving) },
  });
  const first = await chat.invoke("Hi");
  expect(first.text).toBe("Hello.");
  const second = await chat.invoke("Again?", { previous_response_id: String(first.response_metadata["id"]) });
  expect(second.text).toBe("Again.");
  expect(model.calls[1]?.messages.length).toBe(3);
});

test("a failed model call is an error that clients throw, without the provider's words", async () => {
  const model = scriptedModel([fails({ kind: "auth", message: "the key sk-secret is wrong" })]);
  const { client } = responding(model);
  const response = await client.responses.create({ model: "any", input: "Hi" });
  expect(response).toMatchObject({ status: "failed", error: { code: "server_error" } });
  expect(JSON.stringify(response)).not.toContain("sk-secret");
});
