import { langchainModel, threadHistory } from "@colloquy/memories/langchain";
import { createHost, memoryStore, openaiChat } from "@colloquy/runtime-node";
import { reply, ruleModel, scriptedModel } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { ChatPromptTemplate, MessagesPlaceholder } from "@langchain/core/prompts";
import { RunnableWithMessageHistory } from "@langchain/core/runnables";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { expect } from "vitest";
import { closing, type Rows } from "./parts.ts";

export const textsOf = (messages: readonly BaseMessage[]): readonly string[] => messages.map(({ text }) => text);

const template = ChatPromptTemplate.fromMessages([
  ["system", "You are a chatbot having a conversation with a human."],
  new MessagesPlaceholder("chat_history"),
  ["human", "{human_input}"],
]);

/** Makes a chain over threads, whose model answers with the number of messages in its prompt. */
const chainOf = () => {
  const host = closing(createHost({ llm: scriptedModel([]), store: memoryStore() }));
  const seen: string[][] = [];
  const runnable = template.pipe((prompt) => {
    seen.push([...textsOf(prompt.toChatMessages())]);
    return new AIMessage(`A${seen.length}`);
  });
  return { host, seen, runnable };
};

/** The rows of a chain with a memory. */
export const chain: Rows = {
  'ConversationBufferMemory(memory_key="chat_history", chat_memory=message_history)': async () => {
    const { host, seen, runnable } = chainOf();
    const getMessageHistory = (sessionId: string) => threadHistory(host.thread(sessionId));
    const historyMessagesKey = "chat_history";
    const inputMessagesKey = "human_input";
    const llm_chain = new RunnableWithMessageHistory({
      runnable,
      getMessageHistory,
      historyMessagesKey,
      inputMessagesKey,
    });
    for (const human_input of ["H1", "H2"])
      await llm_chain.invoke({ human_input }, { configurable: { sessionId: "ada" } });
    expect(seen[1]?.slice(1)).toEqual(["H1", "A1", "H2"]);
  },
  'memory_key="chat_history"': async () => {
    const { host, seen, runnable } = chainOf();
    const llm_chain = new RunnableWithMessageHistory({
      runnable,
      getMessageHistory: (sessionId: string) => threadHistory(host.thread(sessionId)),
      historyMessagesKey: "chat_history",
      inputMessagesKey: "human_input",
    });
    await host.thread("ada").addTurn([{ role: "user", content: "H0" }]);
    await llm_chain.invoke({ human_input: "H1" }, { configurable: { sessionId: "ada" } });
    expect(seen[0]?.slice(1)).toEqual(["H0", "H1"]);
  },
  "chat_memory=message_history": async () => {
    const { host, runnable } = chainOf();
    const llm_chain = new RunnableWithMessageHistory({
      runnable,
      getMessageHistory: (sessionId: string) => threadHistory(host.thread(sessionId)),
      historyMessagesKey: "chat_history",
      inputMessagesKey: "human_input",
    });
    await llm_chain.invoke({ human_input: "H1" }, { configurable: { sessionId: "ada" } });
    expect(textsOf(await threadHistory(host.thread("ada")).getMessages())).toEqual(["H1", "A1"]);
  },
  'PromptTemplate(input_variables=["chat_history", "human_input"], template=template)': async () => {
    const prompt = ChatPromptTemplate.fromMessages([
      ["system", "You are a chatbot having a conversation with a human."],
      new MessagesPlaceholder("chat_history"),
      ["human", "{human_input}"],
    ]);
    const { messages } = await prompt.invoke({ chat_history: [new HumanMessage("H1")], human_input: "H2" });
    expect(textsOf(messages).slice(1)).toEqual(["H1", "H2"]);
  },
  "OpenAI(temperature=0)": async () => {
    const model = scriptedModel([reply("A1")]);
    await using server = await loopbackServer({ model });
    const llm = openaiChat({ model: "gpt-4o-mini", baseURL: server.url, apiKey: "none" });
    const host = closing(createHost({ llm, store: memoryStore(), thread: { model: { temperature: 0 } } }));
    expect((await host.ask("H1")).text).toBe("A1");
    expect(server.requests[0]?.body).toMatchObject({ temperature: 0 });
  },
  "LLMChain(llm=…, prompt=prompt, verbose=True, memory=memory)": async () => {
    const model = new FakeListChatModel({ responses: ["A1", "A2"] });
    const host = closing(createHost({ llm: langchainModel(model), store: memoryStore() }));
    expect((await host.thread("ada").ask("H1")).text).toBe("A1");
    expect((await host.thread("ada").ask("H2")).text).toBe("A2");
    expect(textsOf(await threadHistory(host.thread("ada")).getMessages())).toEqual(["H1", "A1", "H2", "A2"]);
  },
  "verbose=True": async () => {
    const prompts: number[] = [];
    const hooks = {
      beforeStep: ({ messages }: { readonly messages: readonly unknown[] }) => void prompts.push(messages.length),
    };
    const llm = ruleModel([{ name: "answer", when: () => true, answer: () => "A" }]);
    const host = closing(createHost({ llm, store: memoryStore(), hooks }));
    for (const text of ["H1", "H2"]) await host.ask(text);
    expect(prompts).toEqual([1, 3]);
  },
};
