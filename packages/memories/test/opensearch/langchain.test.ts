import { threadHistory } from "@colloquy/memories/langchain";
import { openSearchServer } from "@colloquy/runtime-test/opensearch";
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { RunnableLambda, RunnableWithMessageHistory } from "@langchain/core/runnables";
import * as Either from "fp-ts/lib/Either.js";
import { expect, test } from "vitest";
import { importMemory, memoryTexts } from "../../src/opensearch/index.ts";
import { breaking, stageWith } from "./stage.ts";

test.each(["2.11", "3.0"] as const)("a chat history of LangChain lives in OpenSearch %s", async (version) => {
  const server = await openSearchServer({ version });
  const client = breaking(server.url, version);
  const { host, mirror } = stageWith(client.memory);
  const chain = new RunnableWithMessageHistory({
    runnable: RunnableLambda.from((messages: BaseMessage[]) => new AIMessage(`A${(messages.length + 1) / 2}`)),
    getMessageHistory: (id: string) => threadHistory(host.thread(id)),
  });
  let memoryId: string | null = null;
  for (const text of ["H1", "H2", "H3"]) {
    await chain.invoke([new HumanMessage(text)], { configurable: { sessionId: "ada" } });
    const synced = await mirror.sync("ada");
    memoryId = Either.isRight(synced) ? synced.right.memoryId : null;
  }
  const texts = await memoryTexts(client.memory, memoryId ?? "");
  expect(Either.isRight(texts) ? texts.right.map(({ text }) => text) : texts.left).toEqual([
    "H1",
    "A1",
    "H2",
    "A2",
    "H3",
    "A3",
  ]);
  // Another machine, which only has the memory.
  const imported = await importMemory(client.memory, memoryId ?? "");
  if (Either.isLeft(imported)) throw new Error(imported.left.reason);
  const copy = await stageWith(client.memory).host.importMessages(imported.right);
  const shown = (await threadHistory(copy).getMessages()).map((message) => message.text);
  expect(shown).toEqual(["H1", "A1", "H2", "A2", "H3", "A3"]);
  await client.close();
  await server.close();
});
