import { createHost, memoryStore } from "@colloquy/runtime-node";
import { ConfigurationError } from "@colloquy/machine";
import { scriptedModel } from "@colloquy/runtime-test/models";
import { describe, expect, it, test } from "vitest";
import { type Principal, type Route, uiChat } from "../src/index.ts";
import { at, errorOf, serving } from "./serving.ts";

const who: Route = { method: "GET", path: "/who", handle: ({ principal }) => Response.json({ id: principal.id }) };
const may: Route = {
  method: "GET",
  path: "/may/:id",
  handle: async (call) => Response.json(await call.mayUse(call.parameters["id"] ?? "")),
};
const begin: Route = {
  method: "GET",
  path: "/begin",
  handle: async (call) => Response.json(await call.newThreadId("conv_1")),
};

/** A value as JavaScript may give it. */
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

  it.each(nobody)("that gives %s lets nobody in, at once or later", async (_, value) => {
    for (const authenticate of [() => value, async () => value]) {
      const server = serving({ authenticate: odd(authenticate) }, who);
      expect(await errorOf(await server.fetch(at("/who")))).toMatchObject({ status: 401, code: "invalid_api_key" });
    }
  });

  it("that gives an object with a text as its id lets that principal in", async () => {
    for (const authenticate of [() => ({ id: "ada" }), async () => ({ id: "ada" })])
      expect(await (await serving({ authenticate }, who).fetch(at("/who"))).json()).toEqual({ id: "ada" });
  });

  it("takes a look into a map of users, which has none for a stranger", async () => {
    const users = new Map<string | null, Principal>([["key", { id: "ada" }]]);
    const server = serving({ authenticate: ({ headers }) => users.get(headers.get("x-key")) }, who);
    expect((await server.fetch(at("/who"))).status).toBe(401);
    expect((await server.fetch(at("/who", { headers: { "x-key": "key" } }))).status).toBe(200);
  });
});

describe("mayUse", () => {
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
  ])("that gives %s", async (_, value, wanted) => {
    const server = serving({ mayUse: odd(() => value) }, may);
    expect(await (await server.fetch(at("/may/t"))).json()).toBe(wanted);
  });
});

describe("threadPrefix", () => {
  const prefixed = async (value: unknown): Promise<unknown> => {
    const server = serving({ threadPrefix: odd(() => value) }, begin);
    const response = await server.fetch(at("/begin"));
    return response.ok ? response.json() : response.status;
  };

  it("that gives a text of letters, digits, _ and - leads the id of a new thread", async () => {
    expect(await prefixed("ada-")).toBe("ada-conv_1");
    expect(await prefixed(Promise.resolve("ada-"))).toBe("ada-conv_1");
    expect(await prefixed("")).toBe("conv_1");
  });

  it.each([undefined, null, 5, true, [], ["ada"], {}, "a/b", "x".repeat(65), Promise.resolve(5)])(
    "that gives %j begins no thread",
    async (value) => {
      expect(await prefixed(value)).toBe(500);
    },
  );
});

test.each(["authenticate", "mayUse", "threadPrefix"] as const)(
  "%s that throws, at once or later, is answered as a failed server, without a word of why",
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
])("the option %s is refused as %j, in words that do not show a token", (name, value) => {
  const options = odd({ [name]: value });
  expect(() => serving(options)).toThrow(words);
  expect(() => serving(options)).toThrow(name);
  expect(() => serving(options)).not.toThrow(/letters\./u);
});

test.each(["api.example", "api.example:8080", "API.example", "my_service", "127.0.0.2", "[::1]:80", "*"])(
  "the name %s is one that a server may be called by",
  (name) => {
    expect(() => serving({ hosts: [name] })).not.toThrow();
  },
);

test("uiChat needs to be told who may ask", () => {
  const host = createHost({ llm: scriptedModel([]), store: memoryStore() });
  for (const options of [{ path: "/chat" }, { path: "/chat", authenticate: undefined }])
    expect(() => uiChat(host, odd(options))).toThrow(/authenticate/u);
});
