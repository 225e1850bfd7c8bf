import { langchainModel, threadHistory } from "@colloquy/memories/langchain";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { FakeListChatModel } from "@langchain/core/utils/testing";

// Any LangChain chat model; this one answers from a list.
const model = new FakeListChatModel({ responses: ["Hello, Ada."] });
const host = createHost({ llm: langchainModel(model), store: memoryStore() });
await host.ask("I am Ada.", { threadId: "ada" });

const history = threadHistory(host.thread("ada")); // a chat history for RunnableWithMessageHistory
for (const message of await history.getMessages()) console.log(`${message.getType()}: ${message.text}`);
await host.close();
