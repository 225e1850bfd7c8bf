import {
  EventRefusedError,
  ImportRefusedError,
  StoreError,
  ThreadClosedError,
  ThreadExistsError,
  ThreadHeldError,
  ThreadUnknownError,
} from "@colloquy/host";
import { ConfigurationError } from "@colloquy/machine";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { scriptedModel } from "@colloquy/runtime-test/models";
import { virtualClock } from "@colloquy/runtime-test";
import { describe, expect, it, test } from "vitest";
import { z } from "zod";
import { type Call, eventStream, HttpError, type Route, threadServer, type ThreadServerOptions } from "../src/index.ts";
import { serverContextOf } from "../src/http/server-options.ts";
import { at, errorOf, get, post, serving } from "./serving.ts";

const hello = get("/hello", () => new Response("hello"));
const thing = get("/things/:id", ({ parameters }) => Response.json(parameters));
const echo: Route = {
  method: "POST",
  path: "/echo",
  handle: async (call) =>
    Response.json(await call.body(z.strictObject({ list: z.array(z.object({ name: z.string() })).optional() }))),
};

describe("paths", () => {
  const server = serving(
    {},
    hello,
    thing,
    echo,
    get("/things/all", () => new Response("all")),
  );

  it.each(["%2e%2e%2f", "%2E%2E%2Fetc", "a.b", "%00", "%", "%ff", "a%20b", "é", "x".repeat(193), "..%5c", "a%2fb"])(
    "lead nowhere with the id %s",
    async (id) => {
      expect(await errorOf(await server.fetch(at(`/things/${id}`)))).toMatchObject({ status: 400, param: "id" });
    },
  );

  it("are decoded before they are checked", async () => {
    expect(await (await server.fetch(at("/things/%61%62"))).json()).toEqual({ id: "ab" });
  });

  it("that lead nowhere are 404, other methods 405 with those that there are", async () => {
    expect(await errorOf(await server.fetch(at("/nowhere")))).toMatchObject({
      status: 404,
      message: 'there is nothing at "/nowhere"',
    });
    const wrong = await server.fetch(at("/hello", { method: "DELETE" }));
    expect(wrong.headers.get("allow")).toBe("GET");
    expect(await errorOf(wrong)).toMatchObject({ status: 405 });
  });
});

describe("bodies", () => {
  const server = serving({ bodyBytesMax: 100 }, echo);

  it("are read by a schema, none as an empty one", async () => {
    expect(await (await server.fetch(post("/echo", { list: [{ name: "a" }] }))).json()).toEqual({
      list: [{ name: "a" }],
    });
    expect(await (await server.fetch(at("/echo", { method: "POST" }))).json()).toEqual({});
  });

  it.each([
    ["{", { status: 400, message: "the body is not JSON", param: null }],
    ["[]", { status: 400, param: null }],
    [{ list: [{ name: "a" }, { name: 1 }] }, { status: 400, param: "list[1].name" }],
    [{ liste: [] }, { status: 400, param: "liste", message: "liste: the body has no such member; leave it out" }],
  ])("that are wrong are refused in words: %j", async (body, error) => {
    expect(await errorOf(await server.fetch(post("/echo", body)))).toMatchObject(error);
  });

  it("that are no JSON by their type, or no UTF-8, are refused", async () => {
    const text = at("/echo", { method: "POST", body: "{}", headers: { "content-type": "text/plain" } });
    expect(await errorOf(await server.fetch(text))).toMatchObject({ status: 415 });
    const bytes = at("/echo", {
      method: "POST",
      body: new Uint8Array([0xff, 0xfe]),
      headers: { "content-type": "application/json" },
    });
    expect(await errorOf(await server.fetch(bytes))).toMatchObject({ status: 400 });
  });

  it("that are too large are refused by their length alone", async () => {
    const request = post("/echo", JSON.stringify({ list: [] }), { "content-length": "101" });
    expect(await errorOf(await server.fetch(request))).toMatchObject({ status: 413 });
    expect(request.bodyUsed).toBe(false);
  });

  it("that are larger than they say are refused as well", async () => {
    const request = post("/echo", JSON.stringify({ list: [{ name: "x".repeat(200) }] }), { "content-length": "10" });
    expect(await errorOf(await server.fetch(request))).toMatchObject({ status: 413 });
  });

  it("without a length are read as far as the limit, and no further", async () => {
    let pulled = 0;
    const body = new ReadableStream({
      pull: (controller) => {
        pulled += 1;
        controller.enqueue(new TextEncoder().encode(" ".repeat(40)));
      },
    });
    // Cast: a stream needs `duplex`, which the type lacks.
    const streamed = { body, duplex: "half" } as RequestInit;
    const request = at("/echo", { method: "POST", ...streamed, headers: { "content-type": "application/json" } });
    const response = await server.fetch(request);
    expect(response.headers.get("connection")).toBe("close");
    expect(await errorOf(response)).toMatchObject({
      status: 413,
      message: expect.stringContaining("100 bytes") as string,
    });
    expect(pulled).toBeLessThan(6);
  });
});

describe("what stands behind the path", () => {
  const server = serving(
    {},
    get("/list", (call) =>
      Response.json(
        call.query(
          z.object({ limit: z.coerce.number().max(100).default(20), include: z.array(z.string()).optional() }),
        ),
      ),
    ),
  );

  it("is read by a schema, lists as clients write them", async () => {
    const queried = async (query: string): Promise<unknown> => (await server.fetch(at(`/list${query}`))).json();
    expect(await queried("")).toEqual({ limit: 20 });
    expect(await queried("?limit=5&include[]=a&include%5B%5D=b")).toEqual({ limit: 5, include: ["a", "b"] });
    expect(await queried("?include[0]=a&include[1]=b&__proto__=x")).toEqual({ limit: 20, include: ["a", "b"] });
  });
});

describe("who may ask", () => {
  const who = get("/who", ({ principal }) => Response.json(principal));
  const bearer = (token: string): Request => at("/who", { headers: { authorization: `Bearer ${token}` } });

  it("is everybody by default, and all who bear the token where there is one", async () => {
    expect(await (await serving({}, who).fetch(at("/who"))).json()).toEqual({ id: "anybody" });
    const server = serving({ authenticate: { token: "secret-of-16-or-more" } }, who);
    expect((await server.fetch(bearer("secret-of-16-or-more"))).status).toBe(200);
    for (const request of [
      at("/who"),
      bearer("Secret-of-16-or-more"),
      bearer("secret-of-16-or-more2"),
      bearer("secret-of-16-or-mor"),
      bearer("x".repeat(10_000)),
    ]) {
      const refused = await server.fetch(request);
      expect(refused.headers.get("www-authenticate")).toBe("Bearer");
      expect(await errorOf(refused)).toMatchObject({
        status: 401,
        code: "invalid_api_key",
        message: expect.stringContaining("key (Authorization: Bearer …)"),
      });
    }
  });
});

describe("from where", () => {
  const calling = (host: string, origin?: string, method = "GET"): Request =>
    at("/hello", { method, headers: { host, ...(origin === undefined ? {} : { origin }) } });

  it.each(["evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", "0.0.0.0", ""])(
    "%j is none of its names, as of a page that has its own name resolved to it",
    async (host) => {
      expect(await errorOf(await serving({}, hello).fetch(calling(host)))).toMatchObject({
        status: 403,
        code: "host_not_allowed",
      });
    },
  );

  it("its own pages may call, others only where they are named, and only they are told of it", async () => {
    const server = serving({ origins: ["https://good.example"] }, hello);
    const own = await server.fetch(calling("localhost:80", "http://localhost:80".replace(":80", "")));
    expect(own.status).toBe(403);
    const same = await server.fetch(calling("localhost:8080", "http://localhost:8080"));
    expect(same.status).toBe(200);
    expect(same.headers.get("access-control-allow-origin")).toBeNull();
    const good = await server.fetch(calling("localhost", "https://good.example"));
    expect(good.headers.get("access-control-allow-origin")).toBe("https://good.example");
    for (const origin of ["https://evil.example", "null", "http://localhost:9"]) {
      const refused = await server.fetch(calling("localhost:8080", origin, "POST"));
      expect(refused.headers.get("access-control-allow-origin")).toBeNull();
      expect(await errorOf(refused)).toMatchObject({ status: 403, code: "origin_not_allowed" });
    }
  });

  it("a browser is told beforehand, without a key", async () => {
    const server = serving(
      { origins: ["https://good.example"], authenticate: { token: "secret-of-16-or-more" } },
      hello,
    );
    const told = await server.fetch(calling("localhost", "https://good.example", "OPTIONS"));
    expect(told.status).toBe(204);
    expect(told.headers.get("access-control-allow-methods")).toContain("POST");
    expect((await server.fetch(calling("localhost", "https://evil.example", "OPTIONS"))).status).toBe(403);
  });
});

describe("answers", () => {
  it("have the id of their request, which is drawn where none, or an odd one, is given", async () => {
    const server = serving({}, hello);
    const idOf = async (headers: Record<string, string>): Promise<string | null> =>
      (await server.fetch(at("/hello", { headers }))).headers.get("x-request-id");
    expect(await idOf({ "x-request-id": "mine-1" })).toBe("mine-1");
    expect(await idOf({ "x-request-id": "<script>" })).toMatch(/^req_[0-9a-f]{32}$/);
    expect(await idOf({})).toMatch(/^req_[0-9a-f]{32}$/);
  });

  it("say nothing of what a route threw, which is reported", async () => {
    const reported: unknown[] = [];
    const broken = get("/broken", () => {
      throw new Error("key sk-12345");
    });
    const refusing = get("/refusing", () =>
      Promise.reject(new HttpError(418, "no coffee", { param: "pot", code: "teapot" })),
    );
    const server = serving({ onError: (error, id) => reported.push([id, error]) }, broken, refusing);
    const response = await server.fetch(at("/broken", { headers: { "x-request-id": "r1" } }));
    const { status, message } = await errorOf(response);
    expect(status).toBe(500);
    expect(message).not.toContain("sk-");
    expect(message).toContain("r1");
    expect(reported).toEqual([["r1", new Error("key sk-12345")]]);
    expect(await errorOf(await server.fetch(at("/refusing")))).toEqual({
      status: 418,
      message: "no coffee",
      param: "pot",
      code: "teapot",
    });
  });

  it("that can't be changed are passed on", async () => {
    const server = serving(
      {},
      get("/", () => Response.redirect("http://localhost/hello")),
    );
    const response = await server.fetch(at("/"));
    expect(response.status).toBe(302);
    expect(response.headers.get("location")).toBe("http://localhost/hello");
    expect(response.headers.get("x-request-id")).not.toBeNull();
  });
});

/** Makes a stream of blocks that the test sends one by one, and records its use. */
const scripted = () => {
  const asked: string[] = [];
  const given: Promise<IteratorResult<string>>[] = [];
  const waiting: ((result: Promise<IteratorResult<string>>) => void)[] = [];
  const add = (result: Promise<IteratorResult<string>>): void => {
    const waits = waiting.shift();
    if (waits === undefined) given.push(result);
    else waits(result);
  };
  const blocks: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        asked.push("next");
        return given.shift() ?? new Promise((resolve) => waiting.push(resolve));
      },
      return: () => {
        asked.push("return");
        return Promise.resolve({ done: true as const, value: undefined });
      },
    }),
  };
  return {
    blocks,
    asked,
    give: (value: string) => add(Promise.resolve({ done: false, value })),
    end: () => add(Promise.resolve({ done: true, value: undefined })),
    fail: (error: Error) => add(rejected(error)),
  };
};

const rejected = async (error: Error): Promise<never> => {
  throw error;
};

const streaming = (options: ThreadServerOptions, blocksOf: (call: Call) => AsyncIterable<string>) => {
  const server = serving(
    { authenticate: ({ headers }) => ({ id: headers.get("x-user") ?? "anybody" }), ...options },
    get("/stream", (call) => eventStream(call.openStream(), blocksOf(call), { "x-own": "1" })),
    get("/failing", (call) => Promise.reject(new HttpError(400, `no ${call.openStream() === null}`))),
  );
  return {
    server,
    open: (user?: string, init: RequestInit = {}): Promise<Response> =>
      server.fetch(at("/stream", { ...init, headers: user === undefined ? {} : { "x-user": user } })),
  };
};

const readerOf = (response: Response): ReadableStreamDefaultReader<Uint8Array> =>
  (response.body ?? new ReadableStream<Uint8Array>()).getReader();

describe("streams", () => {
  it("are blocks as they come, and end with them", async () => {
    const script = scripted();
    const { open } = streaming({}, () => script.blocks);
    const response = await open();
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-own": "1",
    });
    const reader = readerOf(response);
    const first = reader.read();
    script.give("event: a\ndata: 1");
    expect(new TextDecoder().decode((await first).value)).toBe("event: a\ndata: 1\n\n");
    const last = reader.read();
    script.end();
    expect((await last).done).toBe(true);
    expect(script.asked).toEqual(["next", "next"]);
  });

  it("take nothing that is not read", async () => {
    const clock = virtualClock();
    let made = 0;
    const { open } = streaming({ clock }, async function* () {
      for (;;) yield `data: ${++made}`;
    });
    const reader = readerOf(await open());
    await clock.advance(1);
    expect(made).toBe(0);
    await reader.read();
    await reader.read();
    await clock.advance(60_000);
    expect(made).toBe(2);
  });

  it("say that they are there, all by one timer, once and no more while nobody reads", async () => {
    const clock = virtualClock();
    const scripts = [scripted(), scripted()];
    const { open } = streaming({ clock, heartbeatMs: 1_000 }, () => (scripts.shift() ?? scripted()).blocks);
    expect(clock.pending()).toEqual([]);
    const [reading, stalled] = [readerOf(await open()), readerOf(await open())];
    expect(clock.pending()).toHaveLength(1);
    const ping = reading.read();
    await clock.advance(5_000);
    expect(new TextDecoder().decode((await ping).value)).toBe(": ping\n\n");
    expect(new TextDecoder().decode((await stalled.read()).value)).toBe(": ping\n\n");
    const second = stalled.read();
    await clock.advance(1_000);
    expect((await second).value).toHaveLength(8);
    await reading.cancel();
    await stalled.cancel();
    expect(clock.pending()).toEqual([]);
  });

  it("that nobody reads any more return their blocks, however they were left", async () => {
    const scripts = [scripted(), scripted(), scripted()];
    const [cancelled, aborted, before] = scripts;
    const waiting = [...scripts];
    const { open } = streaming({ streamsMax: 1 }, () => (waiting.shift() ?? scripted()).blocks);
    const reader = readerOf(await open());
    const read = reader.read();
    await reader.cancel();
    expect((await read).done).toBe(true);
    expect(cancelled?.asked).toEqual(["next", "return"]);
    const going = new AbortController();
    const other = readerOf(await open("ada", { signal: going.signal }));
    const pending = other.read();
    going.abort();
    expect((await pending).done).toBe(true);
    expect(aborted?.asked).toEqual(["next", "return"]);
    expect((await open("ada", { signal: AbortSignal.abort() })).status).toBe(200);
    expect(before?.asked).toEqual(["return"]);
    // Each stream freed its place exactly once.
    expect((await open()).status).toBe(200);
    expect((await open("bob")).status).toBe(503);
  });

  it("that break are reported, and cut without a word of why", async () => {
    const reported: unknown[] = [];
    const script = scripted();
    const { open } = streaming({ onError: (error) => reported.push(error) }, () => script.blocks);
    const reader = readerOf(await open());
    const read = reader.read();
    script.fail(new Error("key sk-1"));
    await expect(read).rejects.toThrow("the stream broke off");
    expect(reported).toEqual([new Error("key sk-1")]);
  });

  it("are so many at a time, for each and for all", async () => {
    const { open, server } = streaming({ streamsMax: 3, streamsByPrincipalMax: 2 }, () => scripted().blocks);
    const [first] = [await open("ada"), await open("ada")];
    const refused = await open("ada");
    expect(refused.headers.get("retry-after")).toBe("5");
    expect(await errorOf(refused)).toMatchObject({ status: 429, code: "too_many_streams" });
    expect((await open("bob")).status).toBe(200);
    expect(await errorOf(await open("bob"))).toMatchObject({ status: 503, code: "too_many_streams" });
    await first?.body?.cancel();
    // A route that opened no stream frees its place.
    expect((await server.fetch(at("/failing", { headers: { "x-user": "ada" } }))).status).toBe(400);
    expect((await open("ada")).status).toBe(200);
  });
});

describe("closing", () => {
  it("refuses what comes, waits for what is under way, and is one", async () => {
    const clock = virtualClock();
    const script = scripted();
    const slow = Promise.withResolvers<Response>();
    const { server, open } = streaming({ clock }, () => script.blocks);
    const both = serving(
      { clock },
      get("/slow", () => slow.promise),
    );
    const reader = readerOf(await open());
    let closed = 0;
    const closing = Promise.all([server.close(), server.close()]).then(() => (closed += 1));
    expect(await errorOf(await open())).toMatchObject({ status: 503 });
    await clock.advance(1);
    expect(closed).toBe(0);
    const last = reader.read();
    script.end();
    expect((await last).done).toBe(true);
    await closing;
    const answer = both.fetch(at("/slow"));
    const after = both.close();
    slow.resolve(new Response("late"));
    expect(await (await answer).text()).toBe("late");
    await after;
    expect(clock.pending()).toEqual([]);
  });

  it("ends what takes longer", async () => {
    const clock = virtualClock();
    const script = scripted();
    let signal: AbortSignal | undefined;
    const { server, open } = streaming({ clock, drainMs: 500, heartbeatMs: 60_000 }, (call) => {
      signal = call.signal;
      return script.blocks;
    });
    const next = readerOf(await open()).read();
    const closing = server.close();
    await clock.advance(499);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    await closing;
    expect(signal?.aborted).toBe(true);
    expect((await next).done).toBe(true);
    expect(script.asked).toEqual(["next", "return"]);
  });
});

test.each<readonly [object, string]>([
  [{ token: "x" }, 'threadServer has no option "token"'],
  [{ bodyBytesMax: 0 }, "bodyBytesMax must be a whole number ≥ 1 (got 0)"],
  ...["streamsMax", "streamsByPrincipalMax", "heartbeatMs"].map(
    (name) => [{ [name]: 0 }, `${name} must be a whole number ≥ 1 (got 0)`] as const,
  ),
  ...["keepMs", "charactersMax"].map(
    (name) => [{ responses: { [name]: -1 } }, `${name} must be a whole number ≥ 0 (got -1)`] as const,
  ),
  [{ drainMs: 1.5 }, "drainMs must be a whole number ≥ 0 (got 1.5)"],
])("options that are invalid are refused in words: %j", (options, words) => {
  // Cast: only JavaScript can pass these options.
  expect(() => serving(options as ThreadServerOptions)).toThrow(words);
});

test("a server whose model has no key reports once that it recovers no turn, and answers", async () => {
  const check = (): never => {
    throw new Error("no key");
  };
  const host = createHost({ llm: Object.assign(scriptedModel([]), { check }), store: memoryStore() });
  const reported: unknown[] = [];
  const onError = (thrown: unknown, at: string): void => void reported.push([at, thrown instanceof Error]);
  const server = threadServer(host, { onError }, [hello]);
  for (const text of ["hello", "hello"]) expect(await (await server.fetch(at("/hello"))).text()).toBe(text);
  expect(reported).toEqual([["recovery", true]]);
  await host.close();
});

test("the least value of each option is taken", async () => {
  const least = { bodyBytesMax: 1, streamsMax: 1, streamsByPrincipalMax: 1, heartbeatMs: 1, drainMs: 0 };
  const server = serving({ ...least, responses: { keepMs: 0, charactersMax: 0 } }, hello);
  expect(await (await server.fetch(at("/hello"))).text()).toBe("hello");
});

test("the default limits of a server are the documented ones, and a caller may use as many streams as all together", () => {
  const authenticate = () => null;
  const bytes = { bodyBytesMax: 1_048_576, heartbeatMs: 15_000, drainMs: 10_000 };
  const of = (streams: number) => ({ ...bytes, streamsMax: streams, streamsByPrincipalMax: streams });
  expect(serverContextOf({ authenticate })).toMatchObject(of(10_000));
  expect(serverContextOf({ authenticate, streamsMax: 7 })).toMatchObject(of(7));
});

test.each<readonly [string, Error, number, string | null, string]>([
  ["an unknown thread", new ThreadUnknownError("t"), 404, "not_found", 'thread "t"'],
  ["a full queue", new EventRefusedError("t", { kind: "full", reason: "it is full" }), 429, "queue_full", "it is full"],
  ["a refused event", new EventRefusedError("t", { kind: "stale", reason: "it is late" }), 400, "stale", "it is late"],
  ["a refused import", new ImportRefusedError("t", 3, "it is empty"), 400, "invalid", "it is empty"],
  ["a thread that exists", new ThreadExistsError("t"), 400, "invalid", '"t"'],
  ["a thread of another process", new ThreadHeldError("t"), 503, "thread_unavailable", '"t"'],
  ["a closed thread", new ThreadClosedError("t"), 503, "thread_unavailable", '"t"'],
  [
    "a failed store",
    new StoreError("t", "append", new Error("secret")),
    503,
    "store_failed",
    "the store failed; ask again",
  ],
  ["an invalid option", new ConfigurationError("it has no tool"), 400, null, "it has no tool"],
  ["any other error", new Error("secret"), 500, null, "the server failed"],
])("a client gets the status of %s, and no secret", async (_, thrown, status, code, words) => {
  const reported: unknown[] = [];
  const onError = (error: unknown): void => void reported.push(error);
  const response = await serving(
    { onError },
    get("/failing", () => Promise.reject(thrown)),
  ).fetch(at("/failing"));
  const isTemporary = status === 429 || status === 503;
  expect(response.headers.get("retry-after")).toBe(isTemporary ? "1" : null);
  expect(await errorOf(response)).toMatchObject({ status, code, message: expect.stringContaining(words) });
  expect(reported).toEqual(status >= 500 ? [thrown] : []);
});
