import { once } from "node:events";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { inspect } from "node:util";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { scriptedModel } from "@colloquy/runtime-test/models";
import { type Call, eventStream, type Route, threadServer, type ThreadServerOptions } from "@colloquy/server";
import { afterEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { listen, type Listening, type ListeningPlace } from "../src/serve.ts";

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

const echo: Route = {
  method: "POST",
  path: "/echo/:id",
  handle: async (call) => Response.json({ id: call.parameters["id"], body: await call.body(z.object({})) }),
};

const streaming = (blocksOf: (call: Call) => AsyncIterable<string>): Route => ({
  method: "GET",
  path: "/stream",
  handle: (call) => eventStream(call.openStream(), blocksOf(call)),
});

const listening = async (
  routes: readonly Route[],
  options: ThreadServerOptions = {},
  place: Partial<ListeningPlace> = {},
): Promise<Listening> => {
  const host = createHost({ llm: scriptedModel([]), store: memoryStore() });
  const server = await listen(threadServer(host, { drainMs: 1, ...options }, routes), { port: 0, ...place });
  open.push(() => server.close());
  return server;
};

/** Opens a raw connection. */
const connection = async ({ port }: Listening): Promise<Socket> => {
  const socket = connect({ port, host: "127.0.0.1" });
  open.push(() => Promise.resolve(socket.destroy()));
  await once(socket, "connect");
  return socket;
};

/** Sends lines. Returns all that arrives until the other side closes the connection. */
const answerTo = async (server: Listening, ...lines: readonly string[]): Promise<string> => {
  const socket = await connection(server);
  socket.on("error", () => {});
  socket.write(lines.join("\r\n"));
  return text(socket);
};

const head = ["Host: localhost", "Content-Type: application/json"];

test("the printed address answers a request", async () => {
  const server = await listening([echo]);
  expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${server.url}/echo/a`, { method: "POST", body: '{"a":1}', headers });
  expect(await response.json()).toEqual({ id: "a", body: {} });
});

test.each([
  ["another name", ["GET /echo/a HTTP/1.1", "Host: evil.example", "Connection: close", "", ""], "403"],
  ["no name", ["GET /echo/a HTTP/1.1", "Connection: close", "", ""], "400"],
  ["an odd name", ["GET /echo/a HTTP/1.1", "Host: a b", "Connection: close", "", ""], "400"],
  [
    "an address as its path",
    ["GET http://evil.example/ HTTP/1.1", "Host: localhost", "Connection: close", "", ""],
    "404",
  ],
  [
    "a path upward",
    ["POST /echo/%2e%2e%2f HTTP/1.1", ...head, "Content-Length: 0", "Connection: close", "", ""],
    "400",
  ],
  [
    "a path upward, bare",
    ["POST /echo/../../x HTTP/1.1", ...head, "Content-Length: 0", "Connection: close", "", ""],
    "404",
  ],
  ["no HTTP", ["hello", "", ""], "400"],
  ["two lengths", ["POST /echo/a HTTP/1.1", ...head, "Content-Length: 2", "Content-Length: 3", "", "{}"], "400"],
])("%s is refused", async (_, lines, status) => {
  expect(await answerTo(await listening([echo]), ...lines)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

test("a too large body is refused before it arrives by its length, or once it exceeds the limit", async () => {
  const server = await listening([echo], { bodyBytesMax: 1_000 });
  const sized = await answerTo(server, "POST /echo/a HTTP/1.1", ...head, "Content-Length: 1001", "", "{");
  expect(sized).toMatch(/^HTTP\/1.1 413 /);
  const chunk = `100\r\n${" ".repeat(256)}`;
  const chunked = await answerTo(
    server,
    "POST /echo/a HTTP/1.1",
    ...head,
    "Transfer-Encoding: chunked",
    "",
    ...Array<string>(5).fill(chunk),
    "",
  );
  expect(chunked).toMatch(/^HTTP\/1.1 413 /);
});

test("a head or body that arrives too slowly is cut off", async () => {
  const server = await listening([echo], {}, { headMs: 50, requestMs: 100 });
  expect(await answerTo(server, "GET /echo/a HTTP/1.1", "Host: loc")).toMatch(/^HTTP\/1.1 408 /);
  const body = await answerTo(server, "POST /echo/a HTTP/1.1", ...head, "Content-Length: 10", "", "{");
  expect(body).toMatch(/^HTTP\/1.1 4/);
});

test("the server produces nothing ahead for a reader that does not read", async () => {
  const bytes = 100_000;
  let made = 0;
  const server = await listening([
    streaming(async function* () {
      while (made < 1_000) {
        made += 1;
        yield `data: ${"x".repeat(bytes)}`;
      }
    }),
  ]);
  const socket = await connection(server);
  socket.write("GET /stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  let read = 0;
  let most = 0;
  for await (const chunk of socket) {
    read += Buffer.byteLength(chunk as Buffer);
    most = Math.max(most, made * bytes - read);
  }
  expect(made).toBe(1_000);
  expect(read).toBeGreaterThan(1_000 * bytes);
  // The system's buffers can hold this much; the whole answer is 100 MB.
  expect(most).toBeLessThan(40_000_000);
});

test.each(["before its first block", "behind a block"])(
  "a client that goes, %s, ends what is made for it",
  async (when) => {
    const returned = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const server = await listening([
      streaming((call) => {
        call.signal.addEventListener("abort", () => aborted.resolve());
        const blocks = ["data: 1"].slice(when.startsWith("before") ? 1 : 0);
        return {
          [Symbol.asyncIterator]: () => ({
            next: () => {
              const value = blocks.shift();
              if (value !== undefined) return Promise.resolve({ done: false, value });
              asked.resolve();
              return new Promise(() => {});
            },
            return: () => {
              returned.resolve();
              return Promise.resolve({ done: true, value: undefined });
            },
          }),
        };
      }),
    ]);
    const socket = await connection(server);
    socket.write("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await asked.promise;
    socket.destroy();
    await Promise.all([returned.promise, aborted.promise]);
  },
);

test("a failed stream is cut off without a last chunk, and prints no stack", async () => {
  // The listener writes the thrown error there, in our own words.
  using said = vi.spyOn(console, "error").mockImplementation(() => {});
  const reported: unknown[] = [];
  const read = Promise.withResolvers<unknown>();
  const server = await listening(
    [
      streaming(async function* () {
        yield "data: 1";
        await read.promise;
        throw new Error("key sk-1");
      }),
    ],
    { onError: (error) => reported.push(error) },
  );
  const socket = await connection(server);
  socket.write("GET /stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const all = text(socket);
  socket.on("data", (chunk) => String(chunk).includes("data: 1") && read.resolve(null));
  const answer = await all;
  expect(answer).toContain("data: 1\n\n");
  // No last chunk: the answer is not whole.
  expect(answer).not.toMatch(/\r\n0\r\n\r\n$/);
  expect(answer).not.toContain("sk-");
  expect(reported).toEqual([new Error("key sk-1")]);
  expect(said.mock.calls.map(([error]) => inspect(error))).toEqual(["[Error: the stream broke off]"]);
});

test("closing ends streams that are open, and all connections", async () => {
  const server = await listening([
    streaming(() => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) })),
  ]);
  const client = request(`${server.url}/stream`);
  client.end();
  const [response] = (await once(client, "response")) as [AsyncIterable<Buffer>];
  const idle = await connection(server);
  const gone = once(idle, "close");
  idle.resume();
  const body = buffer(response);
  await server.close();
  expect(await body).toHaveLength(0);
  await gone;
  await expect(fetch(server.url)).rejects.toThrow("fetch failed");
});

test("a port in use gets a clear error", async () => {
  const { port } = await listening([]);
  await expect(listening([], {}, { port })).rejects.toThrow(`port ${port} of 127.0.0.1 is taken`);
});
