import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { openSearchServer, type OpenSearchServerOptions } from "@colloquy/runtime-test/opensearch";
import { virtualClock } from "@colloquy/runtime-test";
import { Client } from "@opensearch-project/opensearch";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type MemoryClient,
  type MemoryProblem,
  openSearchMemory,
  openSearchMirror,
  type OpenSearchMirrorOptions,
} from "../../../src/opensearch/index.ts";

const clientAt = (node: string, version?: string, user = "ada"): MemoryClient => {
  const client = new Client({ node, auth: { username: user, password: "hunter2" } });
  onTestFinished(() => client.close());
  return openSearchMemory(client, version === undefined ? {} : { version });
};

const clientOf = async (options: OpenSearchServerOptions): Promise<MemoryClient> => {
  const server = await openSearchServer(options);
  onTestFinished(() => server.close());
  return clientAt(server.url);
};

/** Starts a service that answers every request with one body. */
const lying = async (body: unknown, status = 200): Promise<MemoryClient> => {
  const server = createServer((_, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  onTestFinished(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // It listens on a port.
  return clientAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, "3.0");
};

const right = <Value>(given: Either.Either<MemoryProblem, Value>): Value => {
  if (Either.isLeft(given)) throw new Error(`${given.left.status}: ${given.left.reason}`);
  return given.right;
};

const problem = (status: number | null, reason: string): unknown =>
  Either.left({ status, reason: expect.stringContaining(reason) });

describe.each(["2.10", "2.11", "2.12", "3.0"] as const)("on %s", (version) => {
  it("messages come back in the order in which they were said, with their texts and info", async () => {
    const client = await clientOf({ version });
    const id = right(await client.create("c1"));
    right(await client.add(id, { input: "H1", response: "A1", info: { k: "v" } }));
    right(await client.add(id, { input: "H2", promptTemplate: "t", response: "A2", origin: "o" }));
    const said = right(await client.conversation(id));
    expect(said).toMatchObject([
      { memoryId: id, input: "H1", response: "A1", info: { k: "v" } },
      { input: "H2", promptTemplate: "t", response: "A2", origin: "o", info: {} },
    ]);
    expect(said[0]).not.toHaveProperty("origin");
    expect(right(await client.memories(0))).toMatchObject({ items: [{ id, name: "c1", user: "ada" }], next: null });
    expect(right(await client.remove(id))).toBe(true);
    expect(Either.isLeft(await client.conversation(id))).toBe(true);
  });

  it("so do messages of one instant, over full pages and an empty last page", async () => {
    const client = await clientOf({ version, clock: virtualClock() });
    const id = right(await client.create("c1"));
    const inputs = Array.from({ length: 200 }, (_, index) => `H${index}`);
    for (const input of inputs) right(await client.add(id, { input }));
    expect(right(await client.conversation(id)).map(({ input }) => input)).toEqual(inputs);
    expect(right(await client.messages(id, 200))).toEqual({ items: [], next: null });
  });

  it("a refusal of the service is a value with its status", async () => {
    const client = await clientOf({ version });
    right(await client.create("c1"));
    expect(await client.messages("nowhere", 0)).toEqual(Either.right({ items: [], next: null }));
    expect(await client.add("nowhere", { input: "q" })).toEqual(problem(404, "[nowhere] not found"));
    expect(await client.messages("nowhere", 0)).toEqual(problem(404, "[nowhere] not found"));
    expect(await client.memories(-1)).toEqual(problem(null, "a page cannot begin at -1"));
    expect(await client.remove("..")).toEqual(problem(null, '".." is not an id'));
    expect(await client.remove("a/b ?")).toEqual(problem(404, "[a/b ?] not found"));
  });
});

it("since 2.12 memories and messages are read, changed and searched, and have traces", async () => {
  const client = await clientOf({ version: "3.0" });
  const id = right(await client.create("First name", { topic: "books" }));
  const message = right(await client.add(id, { input: "The best novel?" }));
  right(await client.add(id, { input: "a trace", trace: { of: message, number: 1 } }));
  expect(right(await client.update(id, { name: "Other name", info: { more: "m" } }))).toBe(true);
  expect(right(await client.memory(id))).toMatchObject({
    id,
    name: "Other name",
    user: "ada",
    info: { topic: "books", more: "m" },
  });
  expect(right(await client.updateMessage(message, { response: "Ulysses", info: { by: "me" } }))).toBe(true);
  const read = { id: message, memoryId: id, input: "The best novel?", response: "Ulysses", info: { by: "me" } };
  expect(right(await client.message(message))).toMatchObject(read);
  expect(right(await client.traces(message, 0))).toMatchObject({
    items: [{ input: "a trace", trace: { of: message, number: 1 } }],
    next: null,
  });
  expect(right(await client.conversation(id))).toHaveLength(1);
  expect(right(await client.searchMessages(id, { query: { match: { input: "novel" } } }))).toMatchObject({
    total: 1,
    items: [read],
  });
  expect(right(await client.searchMemories({ query: { match: { name: "other" } } }))).toMatchObject({
    total: 1,
    items: [{ id, name: "Other name" }],
  });
  expect(await client.searchMemories({ query: { nearest: {} } })).toEqual(problem(400, "unknown query [nearest]"));
  expect(await client.create(" ", { topic: "lost" })).toEqual(problem(null, "give it a name"));
});

it.each(["2.11", "3.0"] as const)(
  "a message without any text is refused before it is sent, at version %s",
  async (version) => {
    const client = await clientOf({ version });
    const id = right(await client.create("n"));
    for (const draft of [
      {},
      { input: "" },
      { input: " ", response: "\n" },
      { info: {} },
      { response: "", info: { a: " " } },
    ])
      expect(await client.add(id, draft)).toEqual(
        problem(null, "a message needs a text: give it an input, a response"),
      );
    expect(right(await client.conversation(id))).toEqual([]);
    for (const draft of [{ input: "a" }, { response: "b" }, { origin: "c" }, { promptTemplate: "d" }])
      right(await client.add(id, draft));
    expect(right(await client.conversation(id))).toHaveLength(4);
  },
);

it("before 2.12 a feature that the service lacks is refused, and foreign text is kept", async () => {
  const server = await openSearchServer({ version: "2.11" });
  onTestFinished(() => server.close());
  const client = clientAt(server.url, "2.11.1");
  const id = right(await client.create("c1"));
  const written = { input: "q", additional_info: "no JSON" };
  await fetch(`${server.url}/_plugins/_ml/memory/conversation/${id}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Basic ${btoa("ada:")}` },
    body: JSON.stringify(written),
  });
  expect(right(await client.conversation(id))).toMatchObject([{ input: "q", info: { text: "no JSON" } }]);
  expect(await client.create("c2", { k: "v" })).toEqual(problem(null, "before OpenSearch 2.12"));
  expect(await client.add(id, { input: "t", trace: { of: "m", number: 1 } })).toEqual(problem(null, "no traces"));
  for (const refusal of [
    client.memory(id),
    client.update(id, { name: "n" }),
    client.searchMemories({}),
    client.message("m"),
    client.updateMessage("m", { response: "r" }),
    client.traces("m", 0),
    client.searchMessages(id, {}),
  ]) {
    expect(await refusal).toEqual(problem(null, "OpenSearch before 2.12"));
  }
});

describe("what goes wrong", () => {
  it("is a value for a service that lies, is older, is another user's, or is unreachable", async () => {
    const told = problem(200, "the response does not match the API");
    expect(await (await lying({ memory_id: 1 })).create("n")).toEqual(told);
    expect(await (await lying([])).memory("m")).toEqual(told);
    expect(await (await lying({ messages: [{ message_id: "m" }] })).messages("m", 0)).toEqual(told);
    expect(await (await lying({ messages: [], next_token: 0 })).conversation("m")).toEqual(told);
    expect(await (await lying({ error: "Unauthorized" }, 401)).memory("m")).toEqual(problem(401, "Unauthorized"));
    expect(await clientAt("http://127.0.0.1:1", "1.3").memories(0)).toEqual(problem(null, "no memory API"));
    expect(await clientAt("http://127.0.0.1:1").memories(0)).toEqual(problem(null, "ECONNREFUSED"));
    const owned = await openSearchServer({ version: "3.0" });
    onTestFinished(() => owned.close());
    const id = right(await clientAt(owned.url).create("n"));
    expect(await clientAt(owned.url, "3.0", "bob").memory(id)).toEqual(problem(401, "User [bob] does not have access"));
  });

  it("ends reading at an empty page", async () => {
    let next = 0;
    const empty = {
      transport: {
        // The only member that the client uses.
        request: (async () => {
          if (++next > 2) throw new Error("it reads on");
          return { statusCode: 200, body: { messages: [], next_token: next } };
        }) as never,
      },
    };
    expect(right(await openSearchMemory(empty, { version: "3.0" }).conversation("m1"))).toEqual([]);
    expect(next).toBe(1);
  });

  it("has no credentials in it", async () => {
    const secret = btoa("ada:hunter2");
    const client = await lying({ error: { reason: `bad Basic ${secret} at http://ada:hunter2@host/` } }, 401);
    const failed = await client.memory("m");
    expect(JSON.stringify(failed)).not.toContain("hunter2");
    expect(JSON.stringify(failed)).not.toContain(secret);
    expect(failed).toEqual(problem(401, "bad Basic [redacted]"));
  });

  it.each([
    "the password is hunter2",
    "http://ada:hun/ter2@host/ is closed",
    "http://ada:p@hunter2@host/ is closed",
    "bad ApiKey c2VjcmV0OmhlcmU=",
    "bad Authorization: ApiKey c2VjcmV0OmhlcmU=",
    `no such header ${btoa("ada:hunter2")}`,
    'bad {"password":"s3cr3t word"}',
    "bad ?api_key=s3cr3t&x=1",
    "AWS4-HMAC-SHA256 Credential=AKIA/20261127/us-east-1/es/aws4_request, SignedHeaders=host, Signature=deadbeef",
  ])("has no credentials in it, whichever form the service repeats them in: %s", async (reason) => {
    const client = await lying({ error: { reason } }, 401);
    const failed = JSON.stringify(await client.memory("m"));
    expect(failed).toContain('"status":401');
    for (const secret of ["hunter2", "ter2", "c2VjcmV0OmhlcmU", btoa("ada:hunter2"), "s3cr3t", "AKIA", "deadbeef"])
      expect(failed).not.toContain(secret);
  });
});

it("invalid options are refused", () => {
  const client = new Client({ node: "http://127.0.0.1:1" });
  onTestFinished(() => client.close());
  // A caller in JavaScript may pass these.
  const misspelt = { versoin: "3.0" } as unknown as { readonly version?: string };
  expect(() => openSearchMemory(client, misspelt)).toThrow(
    'openSearchMemory has no option "versoin"; there are version',
  );
  const incomplete = { memory: openSearchMemory(client) } as unknown as OpenSearchMirrorOptions;
  expect(() => openSearchMirror(incomplete)).toThrow('openSearchMirror needs the option "store"');
});

it("the error names a missing client", () => {
  expect(() => Reflect.apply(openSearchMemory, null, [])).toThrow(
    /openSearchMemory needs a client, such as new Client/,
  );
});
