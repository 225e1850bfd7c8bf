import { threadHistory } from "@colloquy/memories/langchain";
import { memoryTexts, openSearchMemory, openSearchMirror } from "@colloquy/memories/opensearch";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { scriptedModel } from "@colloquy/runtime-test/models";
import { openSearchServer } from "@colloquy/runtime-test/opensearch";
import { BaseListChatMessageHistory } from "@langchain/core/chat_history";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { Client } from "@opensearch-project/opensearch";
import * as Either from "fp-ts/lib/Either.js";
import { expect, onTestFinished, vi } from "vitest";
import { chain, textsOf } from "./langchain-chain.ts";
import { closing, read, type Rows } from "./parts.ts";
import { certificate, opensearchOver } from "./secure-server.ts";

/** The rows of the OpenSearch client and the chat history of LangChain over it. */
export const rows = (): readonly Rows[] => [connecting, memories, history, chain];

type Version = Parameters<typeof openSearchServer>[0]["version"];

/** Returns the memory API of a service of this version. */
const memoryOf = async (version: Version = "2.11") => {
  const client = new Client({ node: closing(await openSearchServer({ version })).url });
  return openSearchMemory(closing(client));
};

const right = async <Value>(answer: Promise<Either.Either<{ readonly reason: string }, Value>>): Promise<Value> => {
  const given = await answer;
  if (Either.isLeft(given)) throw new Error(given.left.reason);
  return given.right;
};

const connecting: Rows = {
  "pip install opensearch-py": async () => {
    const command = "npm install @colloquy/memories @opensearch-project/opensearch";
    expect(read("packages/memories/README.md")).toContain(command);
    expect(Object.keys(await import("@colloquy/memories/opensearch"))).toContain("openSearchMemory");
  },
  "pip install langchain": async () => {
    const command = "npm install @colloquy/memories @langchain/core";
    expect(read("packages/memories/README.md")).toContain(command);
    expect(Object.keys(await import("@colloquy/memories/langchain"))).toContain("threadHistory");
  },
  "OpenSearch(…)": async () => {
    const server = closing(await openSearchServer({ version: "2.11" }));
    const client = closing(new Client({ node: server.url }));
    expect(await right(openSearchMemory(client).memories(0))).toEqual({ items: [], next: null });
  },
  "hosts = [{'host': 'localhost', 'port': 9200}]": async () => {
    const { port } = closing(await openSearchServer({ version: "2.11" }));
    const node = `http://localhost:${port}`;
    const client = closing(new Client({ node }));
    expect(await right(openSearchMemory(client).memories(0))).toEqual({ items: [], next: null });
  },
  "http_compress = True": async () => {
    const { node, requests } = await opensearchOver("http");
    const client = closing(new Client({ node, compression: "gzip" }));
    await right(openSearchMemory(client, { version: "2.11" }).create("Books"));
    expect(requests).toEqual([{ encoding: "gzip", text: '{"name":"Books"}' }]);
  },
  "use_ssl = True": async () => {
    const { node } = await opensearchOver("https");
    expect(node).toMatch(/^https:/);
    const ssl = { ca: certificate, checkServerIdentity: () => undefined };
    const client = closing(new Client({ node, ssl }));
    expect(await right(openSearchMemory(client, { version: "2.11" }).create("Books"))).toBe("c1");
  },
  "verify_certs = False": async () => {
    const { node } = await opensearchOver("https");
    const client = closing(new Client({ node, ssl: { rejectUnauthorized: false } }));
    expect(await right(openSearchMemory(client, { version: "2.11" }).create("Books"))).toBe("c1");
    const strict = closing(new Client({ node, maxRetries: 0 }));
    expect(Either.isLeft(await openSearchMemory(strict, { version: "2.11" }).create("Books"))).toBe(true);
  },
  "ssl_assert_hostname = False": async () => {
    const { node } = await opensearchOver("https");
    const client = closing(new Client({ node, ssl: { ca: certificate, checkServerIdentity: () => undefined } }));
    expect(await right(openSearchMemory(client, { version: "2.11" }).create("Books"))).toBe("c1");
    const strict = closing(new Client({ node, maxRetries: 0, ssl: { ca: certificate } }));
    expect(Either.isLeft(await openSearchMemory(strict, { version: "2.11" }).create("Books"))).toBe(true);
  },
  "ssl_show_warn = False": async () => {
    const warned = vi.spyOn(process, "emitWarning");
    onTestFinished(() => warned.mockRestore());
    const { node } = await opensearchOver("https");
    const client = closing(new Client({ node, ssl: { rejectUnauthorized: false } }));
    await right(openSearchMemory(client, { version: "2.11" }).create("Books"));
    expect(warned).not.toHaveBeenCalled();
  },
  "ConversationMemoryOpensearchClient(opensearch_client)": async () => {
    const client = closing(new Client({ node: closing(await openSearchServer({ version: "2.11" })).url }));
    const memory = openSearchMemory(client);
    expect(await right(memory.create("Books"))).toEqual(expect.any(String));
  },
  NamespacedClient: async () => {
    const asked: unknown[] = [];
    const client = closing(new Client({ node: "http://localhost:9200" }));
    vi.spyOn(client.transport, "request").mockImplementation(((...[request]: readonly unknown[]) => {
      asked.push(request);
      return Promise.resolve({ body: { conversation_id: "c1" } });
      // Cast: of its overloads this is the one with promises.
    }) as typeof client.transport.request);
    const memory = openSearchMemory(client, { version: "2.11" });
    expect(await right(memory.create("Books"))).toBe("c1");
    expect(asked).toMatchObject([{ method: "POST", path: "/_plugins/_ml/memory/conversation" }]);
  },
  "self.transport.perform_request(method=…, url=…, body=…, params=…)": async () => {
    const server = closing(await openSearchServer({ version: "2.11" }));
    const { transport } = closing(new Client({ node: server.url }));
    const { body } = await transport.request({ method: "GET", path: "/_plugins/_ml/memory/conversation" });
    expect(body).toEqual({ conversations: [] });
  },
  '_make_path("_plugins", "_ml", "memory", "conversation", conversation_id)': async () => {
    const memory = await memoryOf();
    // An id is escaped.
    await right(memory.create("Books"));

    expect(await memory.add("a/b?c", { input: "Q" })).toMatchObject({
      left: { status: 404, reason: expect.stringContaining("[a/b?c]") },
    });
  },
};

const conversation = { create_time: "2023-09-14T00:00:00Z", name: "c", user: "u" };

const memories: Rows = {
  "create_conversation(name)": async () => {
    const memory = await memoryOf();
    const created = await memory.create("Books");
    expect(Either.isRight(created)).toBe(true);
    expect((await right(memory.memories(0))).items.map(({ name }) => name)).toEqual(["Books"]);
  },
  "create_interaction(conversation_id, input, prompt, response, origin, additional_info)": async () => {
    const memory = await memoryOf();
    const id = await right(memory.create("Books"));
    await right(memory.add(id, { input: "Who wrote it?", response: "Miguel de Cervantes." }));
    const [said] = await right(memory.conversation(id));
    expect(said).toMatchObject({ input: "Who wrote it?", response: "Miguel de Cervantes." });
  },
  input: async () => {
    expect(await written({ input: "Who wrote it?" })).toMatchObject({ input: "Who wrote it?" });
  },
  prompt: async () => {
    // Theirs is sent under a name that the service ignores.
    expect(await written({ promptTemplate: "Be brief." })).toMatchObject({ promptTemplate: "Be brief." });
  },
  response: async () => {
    expect(await written({ response: "Cervantes." })).toMatchObject({ response: "Cervantes." });
  },
  origin: async () => {
    expect(await written({ input: "Q", origin: "chat" })).toMatchObject({ origin: "chat" });
  },
  "additional_info=json.dumps(dict)": async () => {
    // Theirs is lost from 2.12 on.
    for (const version of ["2.11", "3.0"] as const)
      expect(await written({ input: "Q", info: { turn: "1" } }, version)).toMatchObject({ info: { turn: "1" } });
  },
  "get_conversations(max_results, next_token)": async () => {
    const memory = await memoryOf();
    for (const name of ["one", "two"]) await right(memory.create(name));
    const { items, next } = await right(memory.memories(0));
    expect([items.map(({ name }) => name), next]).toEqual([["two", "one"], null]);
  },
  "get_interactions(conversation_id, max_results, next_token)": async () => {
    for (const version of ["2.11", "3.0"] as const) {
      const memory = await memoryOf(version);
      const id = await right(memory.create("Books"));
      for (const input of ["Q1", "Q2", "Q3"]) await right(memory.add(id, { input }));
      expect((await right(memory.conversation(id))).map(({ input }) => input)).toEqual(["Q1", "Q2", "Q3"]);
      expect((await right(memory.messages(id, 0))).items).toHaveLength(3);
    }
  },
  "max_results=100": async () => {
    const memory = await memoryOf();
    const id = await right(memory.create("Books"));
    await right(memory.add(id, { input: "Q1" }));
    const { items } = await right(memory.messages(id, 0));
    expect(items).toHaveLength(1);
  },
  next_token: async () => {
    const pages = [
      { conversations: [{ ...conversation, conversation_id: "c2" }], next_token: 100 },
      { conversations: [{ ...conversation, conversation_id: "c1" }] },
    ];
    const asked: unknown[] = [];
    const request = async (...[given]: readonly unknown[]) => {
      asked.push(Reflect.get(Object(given), "querystring"));
      return { body: pages[asked.length - 1] };
    };
    // Cast: of its overloads this is the one with promises.
    const client = { transport: { request: request as unknown as Client["transport"]["request"] } };
    const memory = openSearchMemory(client, { version: "2.11" });
    const { next } = await right(memory.memories(0));
    const from = next ?? 0;
    expect(await right(memory.memories(from))).toMatchObject({ items: [{ id: "c1" }], next: null });
    expect(asked).toMatchObject([{ next_token: 0 }, { next_token: 100 }]);
  },
  "delete_conversation(conversation_id)": async () => {
    const memory = await memoryOf();
    const id = await right(memory.create("Books"));
    expect(await right(memory.remove(id))).toBe(true);
    expect((await right(memory.memories(0))).items).toEqual([]);
  },
  conversation_id: async () => {
    const memory = await memoryOf();
    const created = await memory.create("Books");
    if (Either.isLeft(created)) throw new Error(created.left.reason);
    const id = created.right;
    expect((await right(memory.memories(0))).items[0]?.id).toBe(id);
  },
  'response.get("interactions")': async () => {
    const memory = await memoryOf();
    const id = await right(memory.create("Books"));
    await right(memory.add(id, { input: "Q", response: "A" }));
    const page = await right(memory.messages(id, 0));
    expect(page.items).toMatchObject([{ memoryId: id, input: "Q", response: "A" }]);
  },
};

/** Writes a message and reads it back. */
const written = async (draft: Parameters<Awaited<ReturnType<typeof memoryOf>>["add"]>[1], version?: Version) => {
  const memory = await memoryOf(version);
  const id = await right(memory.create("Books"));
  await right(memory.add(id, draft));
  return (await right(memory.conversation(id)))[0];
};

/** Makes a host, and a mirror of its threads in OpenSearch. */
const mirrored = async (version?: Version) => {
  const store = memoryStore();
  const host = closing(createHost({ llm: scriptedModel([]), store }));
  const memory = await memoryOf(version);
  return { host, memory, mirror: openSearchMirror({ memory, store }) };
};

const history: Rows = {
  BaseChatMessageHistory: async () => {
    const { host } = await mirrored();
    expect(threadHistory(host.thread("ada"))).toBeInstanceOf(BaseListChatMessageHistory);
  },
  "OpenSearchChatMessageHistory(client, conversation_id=None)": async () => {
    const { host, memory, mirror } = await mirrored();
    const message_history = threadHistory(host.thread("ada"));
    await message_history.addMessages([new HumanMessage("H1"), new AIMessage("A1")]);
    const { memoryId } = await right(mirror.sync("ada"));
    expect(await right(memory.conversation(memoryId ?? ""))).toMatchObject([{ input: "H1", response: "A1" }]);
  },
  "_validate_conversation_id()": async () => {
    const { memory } = await mirrored("3.0");
    const found = await memory.memory("nowhere");
    expect(found).toMatchObject({ left: { status: 404 } });
    expect(Either.isRight(await memory.memory(await right(memory.create("Books"))))).toBe(true);
  },
  "self.conversation_client": async () => {
    const { memory } = await mirrored();
    // The chat history has no client: the mirror does.
    const mirror = openSearchMirror({ memory, store: memoryStore() });
    expect(await right(mirror.sync("nowhere"))).toEqual({ memoryId: null, written: 0, deleted: 0 });
  },
  "self.conversation_id": async () => {
    const { host, memory, mirror } = await mirrored();
    await threadHistory(host.thread("ada")).addMessages([new HumanMessage("H1")]);
    const { memoryId } = await right(mirror.sync("ada"));
    expect((await right(memory.memories(0))).items).toMatchObject([{ id: memoryId, name: "ada" }]);
  },
  messages: async () => {
    for (const version of ["2.11", "3.0"] as const) {
      const { host, memory, mirror } = await mirrored(version);
      const history = threadHistory(host.thread("ada"));
      for (const text of ["1", "2"])
        await history.addMessages([new HumanMessage(`H${text}`), new AIMessage(`A${text}`)]);
      expect(textsOf(await history.getMessages())).toEqual(["H1", "A1", "H2", "A2"]);
      const memoryId = (await right(mirror.sync("ada"))).memoryId ?? "";
      const texts = await right(memoryTexts(memory, memoryId));
      expect(texts.map(({ text }) => text)).toEqual(["H1", "A1", "H2", "A2"]);
    }
  },
  "add_message(message)": async () => {
    const { host } = await mirrored();
    const history = threadHistory(host.thread("ada"));
    await history.addMessage(new AIMessage("A1"));
    await history.addMessage(new HumanMessage("H1"));
    // Theirs gives H1 before A1.
    expect(textsOf(await history.getMessages())).toEqual(["A1", "H1"]);
  },
  "self.pending": async () => {
    const { host, memory, mirror } = await mirrored();
    const history = threadHistory(host.thread("ada"));
    for (const message of [new HumanMessage("H1"), new HumanMessage("H2"), new AIMessage("A1")])
      await history.addMessage(message);
    const { memoryId } = await right(mirror.sync("ada"));
    const texts = await right(memoryTexts(memory, memoryId ?? ""));
    // No message waits for its pair, and no speaker is missing (theirs: H2, "", H1, A1).
    expect(texts.map(({ text }) => text)).toEqual(["H1", "H2", "A1"]);
  },
  "clear()": async () => {
    const { host, memory, mirror } = await mirrored();
    const history = threadHistory(host.thread("ada"));
    await history.addMessages([new HumanMessage("H1"), new AIMessage("A1")]);
    const before = (await right(mirror.sync("ada"))).memoryId;
    await history.clear();
    expect(await history.getMessages()).toEqual([]);
    await history.addMessage(new HumanMessage("H2"));
    expect((await right(mirror.sync("ada"))).memoryId).not.toBe(before);
    await host.thread("ada").delete();
    expect(await right(mirror.sync("ada"))).toMatchObject({ memoryId: null, deleted: 2 });
    expect((await right(memory.memories(0))).items).toEqual([]);
  },
  HumanMessage: async () => {
    const { host } = await mirrored();
    const history = threadHistory(host.thread("ada"));
    await history.addMessage(new HumanMessage("H1"));
    expect((await history.getMessages())[0]).toBeInstanceOf(HumanMessage);
  },
  AIMessage: async () => {
    const { host } = await mirrored();
    const history = threadHistory(host.thread("ada"));
    await history.addMessage(new AIMessage("A1"));
    expect((await history.getMessages())[0]).toBeInstanceOf(AIMessage);
  },
};
