import { createHost, memoryStore } from "@colloquy/runtime-node";
import { ConfigurationError } from "@colloquy/machine";
import { scriptedModel } from "@colloquy/runtime-test/models";
import { describe, expect, it, test } from "vitest";
import { HttpError, type Principal, uiChat } from "../src/index.ts";
import { at, errorOf, get, serving } from "./serving.ts";

const who = get("/who", ({ principal }) => Response.json({ id: principal.id }));
const may = get("/may/:id", async (call) => Response.json(await call.mayUse(call.parameters["id"] ?? "")));
const begin = get("/begin", async (call) => Response.json(await call.newThreadId("conv_1")));

/** Casts a value: callers in JavaScript may pass any. */
const odd = (value: unknown): never => value as never;

const throwing = (error: Error) => (): never => {
  throw error;
};

describe("authenticate", () => {
  const nobody: readonly (readonly [string, unknown])[] = [
    ["undefined", undefined],
    ["null", null],
    ["false", false],
    ["true", true],
    ["an empty text", ""],
    ["a text", "ada"],
    ["0", 0],
    ["1", 1],
    ["NaN", Number.NaN],
    ["a symbol", Symbol("ada")],
    ["an empty list", []],
    ["a list with an id", Object.assign([], { id: "ada" })],
    ["a function with an id", Object.assign(() => {}, { id: "ada" })],
    ["an object without an id", {}],
    ["an object with an empty id", { id: "" }],
    ["an object with a number as its id", { id: 7 }],
    ["an object with a text object as its id", { id: Object("ada") }],
    [
      "an object whose id can't be read",
      {
        get id() {
          throw new Error("sk-secret");
        },
      },
    ],
  ];

  it.each(nobody)("lets nobody in if authenticate gives %s, at once or later", async (_, value) => {
    for (const authenticate of [() => value, async () => value]) {
      const server = serving({ authenticate: odd(authenticate) }, who);
      expect(await errorOf(await server.fetch(at("/who")))).toMatchObject({ status: 401, code: "invalid_api_key" });
    }
  });

  it("lets a principal in if authenticate gives an object with a text as its id", async () => {
    for (const authenticate of [() => ({ id: "ada" }), async () => ({ id: "ada" })])
      expect(await (await serving({ authenticate }, who).fetch(at("/who"))).json()).toEqual({ id: "ada" });
  });

  it("lets nobody in whom a map of users does not have", async () => {
    const users = new Map<string | null, Principal>([["key", { id: "ada" }]]);
    const server = serving({ authenticate: ({ headers }) => users.get(headers.get("x-key")) }, who);
    // This precedes the search for a route.
    for (const path of ["/who", "/nowhere"]) expect((await server.fetch(at(path))).status).toBe(401);
    expect((await server.fetch(at("/who", { headers: { "x-key": "key" } }))).status).toBe(200);
  });
});

it.each([
  ["true", true, true],
  ["a promise of true", Promise.resolve(true), true],
  ["false", false, false],
  ["a promise of false", Promise.resolve(false), false],
  ["undefined", undefined, false],
  ["1", 1, false],
  ["a text", "no", false],
  ["an object", {}, false],
  ["a promise of an object", Promise.resolve({ owner: "bob" }), false],
  ["a function", () => true, false],
])("mayUse allows a thread only if mayUse gives true: %s", async (_, value, wanted) => {
  // `mayUse` receives this thread and this principal.
  const mayUse = ({ id }: Principal, threadId: string): unknown => `${id} ${threadId}` !== "anybody t" || value;
  const server = serving({ mayUse: odd(mayUse) }, may);
  expect(await (await server.fetch(at("/may/t"))).json()).toBe(wanted);
});

test("a client is answered with the error that authenticate or mayUse throws for it", async () => {
  const refuse = (): never => {
    throw new HttpError(402, "pay first", { code: "unpaid" });
  };
  for (const [options, path] of [
    [{ authenticate: refuse }, "/who"],
    [{ mayUse: refuse }, "/may/t"],
  ] as const)
    expect(await errorOf(await serving(options, who, may).fetch(at(path)))).toMatchObject({
      status: 402,
      code: "unpaid",
    });
});

describe("threadPrefix", () => {
  const prefixed = async (value: unknown): Promise<unknown> => {
    const server = serving({ threadPrefix: odd(() => value) }, begin);
    const response = await server.fetch(at("/begin"));
    return response.ok ? response.json() : response.status;
  };

  it("begins the id of a new thread with a threadPrefix of letters, digits, _ and -", async () => {
    expect(await prefixed("ada-")).toBe("ada-conv_1");
    expect(await prefixed(Promise.resolve("ada-"))).toBe("ada-conv_1");
    expect(await prefixed("")).toBe("conv_1");
  });

  it.each([undefined, null, 5, true, [], ["ada"], {}, "a/b", "x".repeat(65), Promise.resolve(5)])(
    "begins no thread if threadPrefix gives %j",
    async (value) => {
      expect(await prefixed(value)).toBe(500);
    },
  );
});

test.each(["authenticate", "mayUse", "threadPrefix"] as const)(
  "an error of %s, at once or later, is answered as 500 without its reason",
  async (name) => {
    for (const error of [new Error("sk-secret"), new ConfigurationError("sk-secret"), odd("sk-secret")])
      for (const decide of [throwing(error), async () => throwing(error)()]) {
        const reported: unknown[] = [];
        const server = serving({ [name]: odd(decide), onError: (why) => reported.push(why) }, who, may, begin);
        const path = { authenticate: "/who", mayUse: "/may/t", threadPrefix: "/begin" }[name];
        const response = await server.fetch(at(path));
        expect(response.status).toBe(500);
        expect(await response.text()).not.toContain("sk-");
        expect(reported).toHaveLength(1);
      }
  },
);

const words = /^[^\n]*(?:must be|leave it out|needs)[^\n]*$/u;

test.each<[string, unknown]>([
  ["authenticate", undefined],
  ["authenticate", null],
  ["authenticate", "key"],
  ["authenticate", {}],
  ["authenticate", { token: undefined }],
  ["authenticate", { token: 1_234_567_890_123_456 }],
  ["authenticate", { token: "fifteen-letters" }],
  ["authenticate", { token: "sixteen letters." }],
  ["authenticate", { token: "sixteen-letters.\n" }],
  ["mayUse", undefined],
  ["mayUse", null],
  ["mayUse", true],
  ["threadPrefix", undefined],
  ["threadPrefix", "ada-"],
  ["hosts", []],
  ["hosts", "localhost"],
  ["hosts", null],
  ["hosts", [""]],
  ["hosts", ["https://api.example"]],
  ["hosts", ["*.example"]],
  ["hosts", ["api.example/"]],
  ["hosts", [undefined]],
  ["origins", "https://good.example"],
  ["origins", null],
  ["origins", ["*"]],
  ["origins", ["null"]],
  ["origins", ["https://good.example/"]],
  ["origins", [7]],
])("the option %s is refused as %j without showing a token", (name, value) => {
  const options = odd({ [name]: value });
  expect(() => serving(options)).toThrow(words);
  expect(() => serving(options)).toThrow(name);
  expect(() => serving(options)).not.toThrow(/letters\./u);
});

test.each([undefined, null])("an error about authenticate: %s says that without it everybody is admitted", (value) => {
  expect(() => serving(odd({ authenticate: value }))).toThrow(
    `threadServer: authenticate is ${value}; give it a value, or leave it out if everybody that reaches the server may use all threads`,
  );
});

test.each(["api.example", "api.example:8080", "API.example", "my_service", "127.0.0.2", "[::1]:80", "*"])(
  "%s is accepted as a host name",
  (name) => {
    expect(() => serving({ hosts: [name] })).not.toThrow();
  },
);

test("uiChat requires the option authenticate", () => {
  const host = createHost({ llm: scriptedModel([]), store: memoryStore() });
  for (const options of [{ path: "/chat" }, { path: "/chat", authenticate: undefined }])
    expect(() => uiChat(host, odd(options))).toThrow(/authenticate/u);
});
