// Uses a thread as LangChain's memory, and a LangChain chat model as a host's model. See docs/langchain.md.
import { fromBaseMessages, langchainModel, threadHistory } from "@colloquy/memories/langchain";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { RunnableLambda, RunnableWithMessageHistory } from "@langchain/core/runnables";
import { FakeListChatModel } from "@langchain/core/utils/testing";

// Any LangChain chat model; this one answers from a list.
const model = new FakeListChatModel({ responses: ["Hello, Ada.", "You said that you are Ada."] });

const host = createHost({ llm: langchainModel(model), store: memoryStore() });

const chain = new RunnableWithMessageHistory({
  runnable: RunnableLambda.from((messages: BaseMessage[]) => model.invoke(messages)),
  getMessageHistory: (sessionId: string) => threadHistory(host.thread(sessionId)),
});
await chain.invoke([new HumanMessage("I am Ada.")], { configurable: { sessionId: "ada" } });

// The same thread, asked through the host.
const { text } = await host.thread("ada").ask("Who am I?");
console.log(text);

const history = threadHistory(host.thread("ada"));
for (const message of await history.getMessages()) console.log(`${message.getType()}: ${message.text}`);

const imported = fromBaseMessages(await history.getMessages());
if ("left" in imported) throw new Error(imported.left.reason);
const copy = await host.importMessages(imported.right, { threadId: "copy" });
console.log((await copy.figures())?.turns);
await host.close();
