import { messagesOf, textOf, toolCallsOf, turnsOf } from "@colloquy/machine";
import { AIMessage, type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { RunnableLambda, RunnableWithMessageHistory } from "@langchain/core/runnables";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import { createAgent } from "langchain";
import { describe, expect, test } from "vitest";
import { threadHistory } from "../../src/langchain/index.ts";
import { hostWith } from "./stage.ts";

const shown = (messages: readonly BaseMessage[]) => messages.map((message) => `${message.getType()}: ${message.text}`);

const call = (id: string) => ({ id, name: "weather", args: { city: "Oslo" }, type: "tool_call" as const });

describe("added messages are read in their order", () => {
  test("H1 H2 A1, one by one (case 59)", async () => {
    const history = threadHistory(hostWith().thread("a"));
    await history.addUserMessage("H1");
    await history.addUserMessage("H2");
    await history.addAIMessage("A1");
    expect(shown(await history.getMessages())).toEqual(["human: H1", "human: H2", "ai: A1"]);
  });

  test.for([
    [new AIMessage("A1"), new HumanMessage("H1")],
    [new SystemMessage("S"), new HumanMessage("H1"), new AIMessage("A1")],
    [new HumanMessage("H1"), new AIMessage("A1"), new HumanMessage("H2")],
  ])("roles in any order, at once or one by one (case 60)", async (messages) => {
    for (const batches of [[messages], messages.map((message) => [message])]) {
      const history = threadHistory(hostWith().thread("a"));
      for (const batch of batches) await history.addMessages(batch);
      expect(shown(await history.getMessages())).toEqual(shown(messages));
    }
  });

  test("a batch is one turn, and concurrent batches follow one another", async () => {
    const thread = hostWith().thread("a");
    const history = threadHistory(thread);
    await Promise.all([
      history.addMessages([new HumanMessage("1"), new AIMessage("2")]),
      history.addMessages([new HumanMessage("3"), new AIMessage("4")]),
    ]);
    const state = await thread.state();
    expect(state === null ? [] : turnsOf(state).map(({ outcome }) => outcome.status)).toEqual([
      "completed",
      "completed",
    ]);
    expect(shown(await history.getMessages())).toEqual(["human: 1", "ai: 2", "human: 3", "ai: 4"]);
  });
});

test("clear starts an empty history, and removes nothing from the journal (case 62)", async () => {
  const thread = hostWith().thread("a");
  const history = threadHistory(thread);
  await history.clear();
  expect(await thread.state()).toBeNull();
  await history.addUserMessage("before");
  await history.clear();
  await history.addUserMessage("after");
  expect(shown(await history.getMessages())).toEqual(["human: after"]);
  expect(JSON.stringify(await thread.exportJournal())).toContain("before");
});

const usageOf = (message: BaseMessage) =>
  "usage_metadata" in message ? { usage_metadata: message.usage_metadata } : {};

test("messages of all kinds come back unchanged", async () => {
  const messages = [
    new SystemMessage({ content: "Be brief.", additional_kwargs: { __openai_role__: "developer" } }),
    new HumanMessage({
      id: "h",
      name: "Ada",
      content: [
        { type: "text", text: "What is this?", cache_control: { type: "ephemeral" } },
        { type: "image_url", image_url: { url: "https://example.org/a.png", detail: "low" } },
        { type: "audio", source_type: "id", id: "x" },
      ],
    }),
    new AIMessage({
      id: "run-1",
      content: [{ type: "thinking", thinking: "Hm.", signature: "s" }],
      tool_calls: [call("c1")],
      invalid_tool_calls: [
        { id: "c2", name: "weather", args: "{", error: "the arguments are no JSON object", type: "invalid_tool_call" },
      ],
      response_metadata: { finish_reason: "tool_calls", model_name: "m" },
      additional_kwargs: { reasoning_content: "Well." },
    }),
    new ToolMessage({
      id: "t",
      tool_call_id: "c1",
      name: "weather",
      content: "sun",
      status: "error",
      artifact: { raw: [1] },
    }),
    new ToolMessage({
      tool_call_id: "c2",
      name: "weather",
      content: [{ type: "text", text: "no" }],
      status: "success",
    }),
    new AIMessage({ content: "A cat.", name: "Eve" }),
  ];
  // Assigned afterwards, because the object literal does not have the type of this field.
  Object.assign(messages[2] ?? {}, { usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } });
  const history = threadHistory(hostWith().thread("a"));
  await history.addMessages(messages);
  const back = await history.getMessages();
  const plain = (message: BaseMessage) => ({ ...message.toDict().data, id: null, ...usageOf(message) });
  const { additional_kwargs: kwargs, ...ai } = plain(back[2] ?? new AIMessage(""));
  const { additional_kwargs: given, ...expected } = plain(messages[2] ?? new AIMessage(""));
  expect(kwargs).toMatchObject(given ?? {});
  expect(ai).toEqual(expected);
  // A list of one text comes back as a text.
  expect([0, 1, 3, 5].map((index) => plain(back[index] ?? new AIMessage("")))).toMatchObject(
    [0, 1, 3, 5].map((index) => plain(messages[index] ?? new AIMessage(""))),
  );
  expect(back.map(({ id }) => id)).toEqual(["a/1.0", "h", "run-1", "t", "a/1.2.1", "a/1.5"]);
});

describe("calls without results", () => {
  test("wait in the thread until their results arrive", async () => {
    const thread = hostWith().thread("a");
    const history = threadHistory(thread);
    await history.addMessages([
      new HumanMessage("Weather?"),
      new AIMessage({ content: "", tool_calls: [call("c1"), call("c2")] }),
    ]);
    expect(shown(await history.getMessages())).toEqual(["human: Weather?", "ai: "]);
    await history.addMessage(new ToolMessage({ tool_call_id: "c2", content: "rain" }));
    // A second process.
    const again = threadHistory(thread);
    expect(shown(await again.getMessages())).toEqual(["human: Weather?", "ai: ", "tool: rain"]);
    await again.addMessages([new ToolMessage({ tool_call_id: "c1", content: "sun" }), new AIMessage("Both.")]);
    expect(shown(await again.getMessages())).toEqual([
      "human: Weather?",
      "ai: ",
      "tool: sun",
      "tool: rain",
      "ai: Both.",
    ]);
    const state = await thread.state();
    expect(state === null ? 0 : messagesOf(state).flatMap(toolCallsOf).length).toBe(2);
  });

  test("get synthesised results if another message follows", async () => {
    const history = threadHistory(hostWith().thread("a"));
    await history.addMessages([new HumanMessage("Weather?"), new AIMessage({ content: "", tool_calls: [call("c1")] })]);
    await history.addMessages([new HumanMessage("Never mind."), new AIMessage("Fine.")]);
    expect(shown(await history.getMessages())).toEqual([
      "human: Weather?",
      "ai: ",
      "tool: No result: the call was interrupted.",
      "human: Never mind.",
      "ai: Fine.",
    ]);
  });

  test("cannot begin a thread, and results without calls are refused", async () => {
    const history = threadHistory(hostWith().thread("a"));
    await expect(history.addMessage(new AIMessage({ content: "", tool_calls: [call("c1")] }))).rejects.toThrow(
      "it begins with calls that have no results",
    );
    await expect(history.addMessage(new ToolMessage({ tool_call_id: "c1", content: "sun" }))).rejects.toThrow(
      'the result of call "c1", which no item before it asks for',
    );
    expect(await history.getMessages()).toEqual([]);
  });
});

describe("LangChain classes that use a history", () => {
  test("RunnableWithMessageHistory remembers each session in its thread", async () => {
    const host = hostWith();
    const echo = RunnableLambda.from(
      (messages: BaseMessage[]) => new AIMessage(`${messages.length}: ${messages.at(-1)?.text}`),
    );
    const chain = new RunnableWithMessageHistory({
      runnable: echo,
      getMessageHistory: (id: string) => threadHistory(host.thread(id)),
    });
    const ask = async (sessionId: string, text: string) =>
      (await chain.invoke([new HumanMessage(text)], { configurable: { sessionId } })).text;
    expect([await ask("ada", "one"), await ask("ada", "two"), await ask("bob", "three")]).toEqual([
      "1: one",
      "3: two",
      "1: three",
    ]);
    expect(shown(await threadHistory(host.thread("ada")).getMessages())).toEqual([
      "human: one",
      "ai: 1: one",
      "human: two",
      "ai: 3: two",
    ]);
  });

  test("an agent's messages and tool calls are stored, each once", async () => {
    const host = hostWith();
    const weather = tool(({ city }: { readonly city: string }) => `sun in ${city}`, {
      name: "weather",
      description: "The weather of a city.",
      schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    });
    const model = fakeModel()
      .respondWithTools([{ name: "weather", args: { city: "Oslo" }, id: "c1" }])
      .respond(new AIMessage("It is sunny."))
      .respond(new AIMessage("You are welcome."));
    const agent = createAgent({ model, tools: [weather] });
    const chain = new RunnableWithMessageHistory({
      runnable: RunnableLambda.from((input: { readonly messages: BaseMessage[] }) => agent.invoke(input)),
      getMessageHistory: (id: string) => threadHistory(host.thread(id)),
      inputMessagesKey: "messages",
      outputMessagesKey: "messages",
    });
    const ask = (text: string) =>
      chain.invoke({ messages: [new HumanMessage(text)] }, { configurable: { sessionId: "ada" } });
    await ask("Weather in Oslo?");
    await ask("Thank you.");
    const state = await host.thread("ada").state();
    expect(state === null ? [] : messagesOf(state).map((message) => `${message.role}: ${textOf(message)}`)).toEqual([
      "user: Weather in Oslo?",
      "assistant: Weather in Oslo?",
      "tool: sun in Oslo",
      "assistant: It is sunny.",
      "user: Thank you.",
      "assistant: You are welcome.",
    ]);
    expect(model.calls.at(-1)?.messages.map((message) => message.text)).toEqual([
      "Weather in Oslo?",
      "Weather in Oslo?",
      "sun in Oslo",
      "It is sunny.",
      "Thank you.",
    ]);
  });
});

test("a value that is not a thread is refused with a reason", () => {
  expect(() => Reflect.apply(threadHistory, null, [hostWith()])).toThrow(/threadHistory needs a thread, such as/);
});
