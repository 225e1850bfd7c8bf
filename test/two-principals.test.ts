import type { LlmHandler, Store } from "@colloquy/host";
import { textOf } from "@colloquy/machine";
import { createHost, memoryStore, tool } from "@colloquy/runtime-node";
import { virtualClock } from "@colloquy/runtime-test";
import { type HttpOptions, type ThreadServer, threadServer } from "@colloquy/server";
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";

import { studioRoutes } from "../packages/server/src/studio/index.ts";

import { runs } from "./runs.ts";

type Name = "ada" | "bob";

/** One request. The numbers choose a route, and then ids and variants among the existing ones. */
interface Move {
  readonly who: Name;
  readonly route: number;
  readonly picks: readonly [id: number, other: number, variant: number];
}

const moves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.record({
    who: fc.constantFrom<Name>("ada", "bob"),
    route: fc.nat(9_999),
    picks: fc.tuple(fc.nat(9_999), fc.nat(9_999), fc.nat(9_999)),
  }),
  { minLength: 40, maxLength: 80, size: "max" },
);

/** Makes a request body from an id, a word that only its principal uses, and a variant. */
type BodyOf = (id: string, word: string, variant: number) => object;

const item = (word: string): object => ({ type: "message", role: "user", content: word });

const lookUp = { type: "function", name: "look_up", parameters: { type: "object" } };

const pick = <Item>(items: readonly [Item, ...Item[]], index: number): Item => items[index % items.length] ?? items[0];

const uiBody: BodyOf = (id, word, variant) => {
  const approval = { id: "1.1.0", approved: true, signature: id };
  const answered = { type: "tool-pay", toolCallId: "1.1.0", state: "approval-responded", approval };
  const text = { type: "text", text: variant % 4 === 0 ? `pay ${word}` : word };
  return {
    id,
    trigger: variant % 5 === 4 ? "regenerate-message" : "submit-message",
    messages: [
      variant % 3 === 2
        ? { id: "turn-1", role: "assistant", parts: [answered] }
        : { id: `m${variant % 7}`, role: "user", parts: [text] },
    ],
  };
};

/** The bodies of all routes that take one. A route that is missing here fails the test. */
const bodies: Readonly<Record<string, BodyOf>> = {
  "POST /v1/responses": (id, word, variant) => ({
    input: pick<readonly object[]>(
      [
        [item(word)],
        [item(`pay ${word}`)],
        [item(`seat ${word}`)],
        [{ type: "item_reference", id }, item(word)],
        [{ type: "function_call_output", call_id: id, output: word }],
        [{ type: "mcp_approval_response", approval_request_id: id, approve: true }],
      ],
      variant,
    ),
    tools: [lookUp],
    ...pick<object>([{}, { conversation: id }, { previous_response_id: id }], variant >> 3),
    ...pick<object>([{}, { stream: true }, { background: true }, { store: false }], variant >> 5),
  }),
  "POST /v1/responses/{id}/cancel": () => ({}),
  "POST /v1/conversations": (_, word) => ({ items: [item(word)], metadata: { word } }),
  "POST /v1/conversations/{conversation_id}": (_, word) => ({ metadata: { word } }),
  "POST /v1/conversations/{conversation_id}/items": (_, word) => ({ items: [item(word)] }),
  "POST /ui": uiBody,
  "POST /ui/{thread}": uiBody,
  "POST /ui/{thread}/stop": () => ({}),
  "POST /studio/api/approval": (id) => ({ id, digest: id, approve: true }),
  "POST /studio/api/fork": (_, __, variant) => ({ turn: variant % 3 }),
  "POST /studio/api/again": (_, word, variant) => ({ turn: (variant % 2) + 1, input: word }),
};

const pay = tool({
  name: "pay",
  description: "Pays.",
  input: { jsonSchema: { type: "object" } },
  approval: "always",
  run: () => "paid",
});

/** Repeats its whole prompt, so that any word in it comes out. */
const echo: LlmHandler = async ({ messages, tools = [] }) => {
  const last = messages.at(-1);
  const asked = last?.role === "user" ? textOf(last) : "";
  const name = asked.startsWith("pay") ? "pay" : asked.startsWith("seat") ? "look_up" : "";
  return tools.some((offered) => offered.name === name)
    ? { type: "completed", reply: { toolCalls: [{ id: "c", name, arguments: "{}" }] }, finishReason: "tool_calls" }
    : { type: "completed", reply: { content: `Read: ${messages.map(textOf).join(" ")}` }, finishReason: "stop" };
};

const owners: HttpOptions = {
  authenticate: ({ headers }) => ({ id: headers.get("x-user") ?? "" }),
  threadPrefix: ({ id }) => `${id}-`,
  mayUse: ({ id }, threadId) => threadId.startsWith(`${id}-`),
};

/** A server with threads of both principals, some nested, and the ids that each has seen. */
class Served {
  readonly #store: Store;
  readonly #server: ThreadServer;
  readonly #operations: readonly string[];
  readonly #ids = { ada: new Set<string>(), bob: new Set<string>() };
  #threads: ReadonlySet<string>;
  #words = 0;

  private constructor(store: Store, server: ThreadServer, operations: readonly string[], threads: readonly string[]) {
    this.#store = store;
    this.#server = server;
    this.#operations = operations;
    this.#threads = new Set(threads);
    for (const name of ["ada", "bob"] as const) for (const id of idsOf(name)) this.#ids[name].add(id);
  }

  static async open(options: HttpOptions): Promise<Served> {
    const store = memoryStore();
    const host = createHost({ llm: echo, store, tools: [pay] });
    for (const name of ["ada", "bob"] as const)
      for (const [id, word] of [
        [`${name}-1`, "word-seed"],
        [`${name}-1/helper`, "word-nested"],
      ] as const)
        await host.thread(id).ask(`${name}-${word}`);
    const configurations = [{ name: "own", host }] as const;
    const routes = await studioRoutes({ store, clock: virtualClock(), configurations, about: "memory" });
    const server = threadServer(host, options, routes);
    const described = await server.fetch(
      new Request("http://localhost/openapi.json", { headers: { "x-user": "nobody" } }),
    );
    const { paths } = z
      .object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
      .parse(await described.json());
    const operations = Object.entries(paths).flatMap(([path, at]) =>
      Object.keys(at).map((method) => `${method.toUpperCase()} ${path}`),
    );
    return new Served(store, server, operations, await threadsIn(store));
  }

  /** The routes without those of files and the endless stream. */
  get operations(): readonly string[] {
    return this.#operations.filter((each) => !each.includes(".") && each !== "GET /studio/api/events");
  }

  /** Makes a request. Returns its status and route, and the leaks from other principals or nested threads. */
  async make({ who, route, picks }: Move): Promise<{ readonly did: string; readonly leaks: readonly string[] }> {
    // This route names threads in more ways than all others together.
    const operation = route % 3 === 0 ? "POST /v1/responses" : (this.operations[route % this.operations.length] ?? "");
    const [method = "", path = ""] = operation.split(" ");
    const known = [...this.#ids[who], ...this.#ids.ada, ...this.#ids.bob];
    const [picked = "", other = ""] = picks
      .slice(0, 2)
      .map((index) => (index % 3 === 0 ? pick(idsOf(who), index) : (known[index % known.length] ?? "")));
    // A copy of a nested thread may be named, so none is copied.
    const id = /fork|again/u.test(path) ? picked.replace("/helper", "") : picked;
    const place = path.replaceAll(/\{\w+\}/gu, (_, index: number) => encodeURIComponent(index < 30 ? id : other));
    const body = method === "POST" ? JSON.stringify(this.#bodyOf(operation, id, who, picks[2])) : null;
    const url = `${place}?${queryOf(path, id, other, picks[2])}`;
    const headers = { "x-user": who, "content-type": "application/json" };
    const response = await this.#server.fetch(
      new Request(`http://localhost${url}`, { method, headers, ...(body === null ? {} : { body }) }),
    );
    const text = await response.text();
    for (const [found] of text.matchAll(/(?:[a-z]+\d*_\d+_\d+_(?:\d+_)?|resp_[0-9a-f]{32}_)?(?:ada|bob)-[\w-]+/gu))
      if (!found.includes("word")) this.#ids[who].add(found);
    const asked = `${decodeURIComponent(url)} ${body ?? ""}`;
    const threads = await threadsIn(this.#store);
    const begun = threads.filter((threadId) => !this.#threads.has(threadId) && !threadId.startsWith(`${who}-`));
    this.#threads = new Set(threads);
    const strange = path.startsWith("/studio") ? [] : text.includes(`${who}-word-nested`) ? ["a nested thread"] : [];
    return {
      did: `${response.status} ${operation}`,
      leaks: [
        ...strangersIn(text, who).filter((each) => !asked.includes(each)),
        ...begun.map((threadId) => `began ${threadId}`),
        ...strange,
      ],
    };
  }

  #bodyOf(operation: string, id: string, who: Name, variant: number): object {
    const bodyOf = bodies[operation];
    if (bodyOf === undefined) throw new Error(`bodies has none for ${operation}; add one`);
    return bodyOf(id, `${who}-word-${(this.#words += 1)}`, variant);
  }
}

/** Returns the ids of the first threads, and made-up ids of their responses and items. */
const idsOf = (name: Name): readonly [string, ...string[]] => [
  `${name}-1`,
  `resp_1_1_${name}-1`,
  `${name}-1/helper`,
  `resp_1_1_${name}-1/helper`,
  "new",
];

const threadsIn = async (store: Store): Promise<readonly string[]> =>
  (await store.list({ limit: 1_000 })).threads.map(({ threadId }) => threadId);

/** Returns the other principal's ids and words in a text. */
const strangersIn = (text: string, who: Name): readonly string[] =>
  [...text.matchAll(/(?:ada|bob)-[\w-]+/gu)].map(([found]) => found).filter((found) => !found.startsWith(`${who}-`));

/** Makes a query for the studio's routes, which parse it themselves. The others have a limit of one, to get cursors. */
const queryOf = (path: string, id: string, other: string, variant: number): string => {
  const words = pick(["word", "seed nested", "pay"], variant);
  const studio = { thread: id, other, seq: String(variant % 4), otherSeq: "1", turn: "1", words };
  const query = path.startsWith("/studio") ? studio : path.startsWith("/ui") ? {} : { limit: "1" };
  return new URLSearchParams({ ...query, ...(variant % 5 === 0 ? { after: id } : {}) }).toString();
};

const run = async (options: HttpOptions, each: readonly Move[], done: Set<string> = new Set()): Promise<void> => {
  const served = await Served.open(options);
  for (const move of each) {
    const { did, leaks } = await served.make(move);
    done.add(did);
    if (leaks.length > 0) throw new Error(`${move.who} was told of ${leaks.join(", ")} by ${did}`);
  }
};

test("no answer to one principal holds an id or a word of another one's threads, and each thread begins with the prefix", async () => {
  await fc.assert(
    fc.asyncProperty(moves, (each) => run(owners, each)),
    { numRuns: runs(80) },
  );
});

test("the requests of the law of two principals reach every route", async () => {
  const { operations } = await Served.open(owners);
  const done = new Set<string>();
  const routes = operations.map((_, index) => [index, index + operations.length].find((route) => route % 3 > 0) ?? 0);
  // The first id of a principal is a thread's, the second a response's.
  const picks = [0, 6].flatMap((id) => [1, 2, 3].map((variant) => [id, 0, variant] as const));
  for (const each of picks)
    await run(
      owners,
      routes.map((route) => ({ who: "ada", route, picks: each })),
      done,
    );
  const reverse = routes.toReversed().map((route) => ({ who: "ada", route, picks: [0, 0, 1] }) as const);
  await run(owners, [{ who: "ada", route: 0, picks: [0, 0, 0] }, ...reverse], done);
  // These need an item, or a pending approval.
  const seldom = /\{item_id\}|approval$/u;
  expect(
    operations.filter((each) => !seldom.test(each) && ![200, 204, 303].some((is) => done.has(`${is} ${each}`))),
  ).toEqual([]);
});

test.each<[string, HttpOptions]>([
  ["everybody may use all threads", { ...owners, mayUse: () => true }],
  ["threads begin without a prefix", { ...owners, threadPrefix: () => "" }],
])("the law of two principals finds out that %s", async (_, options) => {
  const property = fc.asyncProperty(moves, (each) => run(options, each));
  const { errorInstance } = await fc.check(property, { numRuns: 30, endOnFailure: true });
  expect(errorInstance).toMatchObject({ message: expect.stringContaining("was told of") as string });
});
