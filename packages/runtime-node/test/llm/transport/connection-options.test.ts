import type { LlmHandler } from "@colloquy/host";
import { ConfigurationError } from "@colloquy/machine";
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { chatHandler, type ChatRequestOptions } from "../../../src/llm/http-handlers.ts";
import { chatKinds, openaiChat, openaiResponses, textCompletion } from "../../../src/llm/openai.ts";
import { connect, loadedLater } from "../../../src/llm/transport/connection.ts";
import { callOf, perform } from "../call.ts";
import { chatServer } from "../server.ts";

beforeEach(() => {
  for (const name of ["API_KEY", "ADMIN_KEY", "BASE_URL", "ORG_ID", "PROJECT_ID"])
    vi.stubEnv(`OPENAI_${name}`, undefined);
});

afterEach(() => {
  vi.unstubAllEnvs();
});

const local = { baseURL: "http://127.0.0.1:1/v1", apiKey: "k" };

/** Makes a handler with any options, as a caller in JavaScript may. */
const made = (options: object): LlmHandler => openaiChat({ ...local, ...options });

const refusalOf = (make: () => unknown): string => {
  try {
    make();
  } catch (thrown) {
    if (thrown instanceof ConfigurationError) return thrown.message;
    throw thrown;
  }
  return "made";
};

const url = 'must be a URL with http:// or https://, such as "http://127.0.0.1:8080/v1"';

test.each<[object, string]>([
  [{ idleTimeoutMs: 0 }, "idleTimeoutMs must be a whole number of milliseconds above 0, or null for no limit (got 0)"],
  [
    { endTimeoutMs: "2s" },
    'endTimeoutMs must be a whole number of milliseconds above 0, or null for no limit (got "2s")',
  ],
  [{ timeout: "5" }, 'timeout must be a number of milliseconds, from 1 to 2147483647 (got "5")'],
  [{ timeout: 0 }, "timeout must be a number of milliseconds, from 1 to 2147483647 (got 0)"],
  [{ timeout: Number.NaN }, "timeout must be a number of milliseconds, from 1 to 2147483647 (got NaN)"],
  [{ timeout: Infinity }, "timeout must be a number of milliseconds, from 1 to 2147483647 (got Infinity)"],
  [{ baseURL: "nowhere" }, `baseURL ${url} (got a text)`],
  [{ baseURL: "localhost:8080/v1" }, `baseURL ${url} (got a text)`],
  [{ baseURL: new URL("http://localhost") }, `baseURL ${url} (got an object)`],
  [{ baseURL: "ada:lovelace@localhost/v1" }, `baseURL ${url} (got a text)`],
  [{ fetch: 1 }, "fetch must be a function (got 1)"],
  [{ fetchOptions: "none" }, "fetchOptions must be an object (got a text)"],
  [{ defaultQuery: "key=secret" }, "defaultQuery must be an object (got a text)"],
  [{ organization: 7 }, "organization must be a text that a header can have (got 7)"],
  [{ project: "計画" }, "project must be a text that a header can have (got a text)"],
  [
    { apiKey: 123_456 },
    "apiKey must be a text that a header can have, without line breaks, or a function that gives one (got a value of type number)",
  ],
  [{ defaultHeaders: "x-key: secret" }, "defaultHeaders must be an object of headers (got a text)"],
  [
    { client: null },
    "client must be a client of the package openai, such as new OpenAI({ … }) (got null); leave it out for the default",
  ],
  [{ client: {} }, "client must be a client of the package openai, such as new OpenAI({ … }) (got an object)"],
])("%o is refused when a handler is made, and what may be a key is not shown", (options, words) => {
  expect(refusalOf(() => made(options))).toBe(`openaiChat: ${words}`);
});

test.each<[object, string]>([
  [{ apiKey: "se\ncret" }, "openaiChat: apiKey must be a text that a header can have"],
  [{ apiKey: "секрет" }, "openaiChat: apiKey must be a text that a header can have"],
  [{ defaultHeaders: { "x y": "secret" } }, 'openaiChat: a header "x y" can\'t be sent'],
  [{ defaultHeaders: { "x-y": ["a", "se\ncret"] } }, 'openaiChat: a header "x-y" can\'t be sent'],
  [{ defaultHeaders: [["x-y", "se\ncret"]] }, 'openaiChat: a header "x-y" can\'t be sent'],
  [{ defaultHeaders: ["x-y"] }, "openaiChat: defaultHeaders must be an object of headers"],
])("%j is refused without its value", (options, words) => {
  const refusal = refusalOf(() => made(options));
  expect(refusal).toContain(words);
  expect(refusal).not.toMatch(/cret|секрет/u);
});

test.each<object>([
  { timeout: 1.5, fetch: async () => new Response(), fetchOptions: {}, defaultQuery: { a: undefined } },
  { baseURL: "unix:/run/model.sock", fetch: async () => new Response() },
  { defaultHeaders: { a: "b", c: null, d: undefined, e: ["f", null] } },
  { defaultHeaders: new Headers({ a: "b" }) },
  { defaultHeaders: [["a", "b"]] },
  { apiKey: async () => "k", organization: null, project: null, defaultHeaders: null, timeout: undefined },
])("%o is what the SDK takes", (options) => {
  expect(refusalOf(() => made(options))).toBe("made");
});

describe("a key that is null", () => {
  test("is none: a server of one's own needs none, and OpenAI's does", () => {
    expect(refusalOf(() => made({ apiKey: null }))).toBe("made");
    for (const baseURL of [undefined, null, ""])
      expect(refusalOf(() => made({ apiKey: null, baseURL }).check?.())).toContain("openaiChat has no key");
  });

  test("leaves the key of an administrator alone", () => {
    vi.stubEnv("OPENAI_ADMIN_KEY", "of-the-environment");
    expect(refusalOf(() => made({ apiKey: null, baseURL: null }))).toBe("made");
  });
});

test("what the environment has is called by its variable", () => {
  vi.stubEnv("OPENAI_BASE_URL", "nowhere");
  expect(refusalOf(() => openaiChat({ model: "m" }))).toBe("made");
  expect(refusalOf(() => openaiChat({ model: "m" }).check?.())).toBe(`OPENAI_BASE_URL ${url} (got a text)`);
  expect(refusalOf(() => openaiChat({ ...local, model: "m" }).check?.())).toBe("made");
  vi.stubEnv("OPENAI_BASE_URL", undefined);
  vi.stubEnv("OPENAI_API_KEY", "se\ncret");
  expect(refusalOf(() => openaiChat({ model: "m" }).check?.())).toMatch(
    /^OPENAI_API_KEY must be a text that a header can have/,
  );
});

test("where key, organization and project are given, a server gets nothing of the environment but its custom headers", async () => {
  for (const name of ["API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"])
    vi.stubEnv(`OPENAI_${name}`, "of-the-environment");
  vi.stubEnv("OPENAI_BASE_URL", "http://127.0.0.1:1/of-the-environment");
  vi.stubEnv("OPENAI_CUSTOM_HEADERS", "x-custom: of-the-environment");
  const sent: unknown[] = [];
  const { baseURL } = await chatServer(({ headers }, response) => {
    sent.push(Object.entries(headers).filter(([, value]) => String(value).includes("of-the-environment")));
    response.end();
  });
  await perform(openaiChat({ baseURL, apiKey: "none", organization: null, project: null, model: "m" })).outcome;
  await perform(openaiChat({ baseURL, model: "m" })).outcome;
  expect(sent).toEqual([
    [["x-custom", "of-the-environment"]],
    expect.arrayContaining([
      ["authorization", "Bearer of-the-environment"],
      ["openai-organization", "of-the-environment"],
      ["openai-project", "of-the-environment"],
    ]),
  ]);
});

test("all handlers over HTTP say so, each by its name", () => {
  // Cast: a caller in JavaScript may pass it.
  const wrong = { ...local, timeout: "5" as unknown as number };
  expect(refusalOf(() => openaiResponses(wrong))).toMatch(/^openaiResponses: timeout must be .*"5"/);
  const template = { name: "t", version: 1, options: {}, stop: [], opening: [], render: () => never() };
  expect(refusalOf(() => textCompletion({ ...wrong, template }))).toMatch(/^textCompletion: timeout must be .*"5"/);
});

test("a handler of one's own that is made of the parts of openaiChat speaks under its own name", async () => {
  const handler = chatHandler(connect<ChatRequestOptions>("ourChat", { ...local, tools: [] }, chatKinds));
  const { outcome } = perform(handler, callOf({ tools: [{ name: "f", digest: "" }] }));
  expect(await outcome).toMatchObject({
    failure: { message: expect.stringMatching(/ourChat has no declaration of it: .* give ourChat tools/) },
  });
});

test("a handler whose code can't be loaded fails the call, and is loaded once by the next ones", async () => {
  const connected = connect<ChatRequestOptions>("ourChat", { ...local, tools: [] }, chatKinds);
  const failed = { type: "failed", failure: { kind: "unknown", message: "loaded", retryable: false } } as const;
  const load = vi
    .fn<() => Promise<LlmHandler>>()
    .mockRejectedValueOnce(new Error("no such file"))
    .mockResolvedValue(async () => failed);
  const handler = loadedLater(connected, load);
  await expect(perform(handler).outcome).rejects.toThrow("no such file");
  expect(await Promise.all([perform(handler).outcome, perform(handler).outcome])).toEqual([failed, failed]);
  expect(await perform(handler).outcome).toEqual(failed);
  expect(load).toHaveBeenCalledTimes(2);
});

test("a call fails where the environment lacks a key, without loading anything, and any other error is thrown", async () => {
  const load = vi.fn<() => Promise<LlmHandler>>();
  const given = { keys: () => [], check: () => openaiChat({ model: "m" }).check?.() };
  // Cast: only these members are read.
  const handlerOf = (connected: object) => loadedLater(connected as Parameters<typeof loadedLater>[0], load);
  expect(await perform(handlerOf(given)).outcome).toMatchObject({
    failure: { kind: "auth", retryable: false, message: expect.stringContaining("openaiChat has no key") },
  });
  const broken = {
    ...given,
    check: () => {
      throw new RangeError("odd");
    },
  };
  await expect(perform(handlerOf(broken)).outcome).rejects.toThrow("odd");
  expect(load).not.toHaveBeenCalled();
});

test.each([
  [{ timeout: 2 ** 31 - 1 }, "made"],
  [{ timeout: 2 ** 31 }, "timeout must be a number of milliseconds"],
  [{ idleTimeoutMs: 1, endTimeoutMs: null }, "made"],
  [{ idleTimeoutMs: 1.5 }, "idleTimeoutMs must be a whole number"],
])("%j is judged at the bound", (options, words) => {
  expect(refusalOf(() => made(options))).toContain(words);
});

test.each(["http://ada@127.0.0.1:1/v1", "http://:lovelace@127.0.0.1:1/v1"])(
  "a base URL with credentials is refused by its host alone: %s",
  (baseURL) => {
    const words =
      "openaiChat: the base URL of 127.0.0.1:1 holds a user name or a password; send them as a header, by defaultHeaders";
    expect(refusalOf(() => made({ baseURL }))).toBe(words);
    expect(refusalOf(() => openaiChat({ client: new OpenAI({ apiKey: "k", baseURL }) }))).toBe(words);
    vi.stubEnv("OPENAI_BASE_URL", baseURL);
    expect(refusalOf(() => openaiChat({ apiKey: "k" }).check?.())).toBe(words);
  },
);

const never = (): never => {
  throw new Error("nothing is rendered here");
};

describe("in a page, where everybody can read what its program has", () => {
  beforeEach(() => {
    vi.stubGlobal("window", { document: {} });
  });
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  test.each([{}, { dangerouslyAllowBrowser: false }, { apiKey: async () => "k" }])(
    "a key is refused: %o",
    (options) => {
      const refusal = refusalOf(() => made(options));
      expect(refusal).toContain("openaiChat has an apiKey, which everybody who opens the page can read");
      expect(refusal).toContain("dangerouslyAllowBrowser: true");
    },
  );

  test("a key is taken from one who says so, and none is needed for a server of one's own", () => {
    expect(refusalOf(() => made({ dangerouslyAllowBrowser: true }))).toBe("made");
    expect(refusalOf(() => made({ apiKey: undefined }))).toBe("made");
  });
});
