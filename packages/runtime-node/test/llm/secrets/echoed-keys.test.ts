import type { LlmDelta } from "@colloquy/host";
import OpenAI from "openai";
import { describe, expect, test, vi } from "vitest";
import { openaiChat, type OpenAiChatOptions } from "../../../src/llm/openai.ts";
import {
  keysIn,
  keysOfEnvironment,
  secretsIn,
  secretsOfEnvironment,
  sentBy,
} from "../../../src/llm/secrets/secrets.ts";
import { perform } from "../call.ts";
import { type Answer, answering, answeringJson, chatServer, eventOf } from "../server.ts";

const key = "sk-test-key-0123456789";
const header = "azure+secret/1==";

const connection = (baseURL: string): OpenAiChatOptions => ({
  baseURL,
  apiKey: key,
  defaultHeaders: { "api-key": header, authorization: "Token inner-secret-2" },
});

/** Returns an answer with a key in every place where a server may put one. */
const echo = (said: string) => ({
  id: `chatcmpl-${said}`,
  model: `gpt ${said}`,
  usage: { prompt_tokens: 1, completion_tokens: 2, note: said, [said]: "x" },
  message: {
    role: "assistant",
    content: `Your key is ${said}, really.`,
    reasoning_content: `They sent ${said}`,
    refusal: null,
    tool_calls: [
      {
        id: `call-${said}`,
        type: "function",
        function: { name: `look_${said}`, arguments: JSON.stringify({ header: said }) },
        extra_content: { signature: said, [said]: 1 },
      },
    ],
    annotations: [{ text: said }],
  },
});

const streaming = (...events: readonly string[]): Answer =>
  answering(events.join(""), 200, { "content-type": "text/event-stream" });

const textOf = (deltas: readonly LlmDelta[]): string =>
  deltas.map((delta) => (delta.type === "toolCall" ? delta.arguments : delta.text)).join("");

describe.each([
  ["the client's key", key],
  ["a header's", header],
  ["what stands behind a word in a header", "inner-secret-2"],
])("a key that a server echoes: %s", (_, said) => {
  test("leaves the handler in no part of a plain answer", async () => {
    const { id, model, usage, message } = echo(said);
    const { baseURL } = await chatServer(
      answeringJson({ id, model, usage, choices: [{ index: 0, message, finish_reason: `stop ${said}` }] }),
    );
    const { outcome, deltas } = perform(openaiChat({ ...connection(baseURL), stream: false }));
    const got = await outcome;
    expect(got).toMatchObject({
      type: "completed",
      finishReason: "stop [redacted]",
      model: "gpt [redacted]",
      responseId: "chatcmpl-[redacted]",
    });
    expect(JSON.stringify([got, deltas])).not.toContain(said);
    expect(got).toMatchObject({
      reply: { toolCalls: [{ id: "call-[redacted]", arguments: '{"header":"[redacted]"}' }] },
    });
  });

  test("leaves it in no piece of a stream, wherever it is cut", async () => {
    const { id, model, usage, message } = echo(said);
    const {
      content,
      reasoning_content: reasoning,
      tool_calls: [call],
    } = message;
    const chunk = (delta: object, rest: object = {}): string =>
      eventOf({ id, model, choices: [{ index: 0, delta, ...rest }] });
    const cut = (text: string, of: (piece: string) => object): string =>
      Array.from(text, (character) => chunk(of(character))).join("");
    const events = [
      // Character by character, and both at once.
      Array.from(content, (character, index) =>
        chunk({ content: character, reasoning_content: reasoning[index] ?? "" }),
      ).join(""),
      chunk({ tool_calls: [{ index: 0, id: call?.id, function: { name: call?.function.name, arguments: "" } }] }),
      cut(call?.function.arguments ?? "", (piece) => ({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
      chunk({ annotations: message.annotations }, { finish_reason: `stop ${said}` }),
      eventOf({ choices: [], usage }),
      "data: [DONE]\n\n",
    ];
    const { baseURL } = await chatServer(streaming(...events));
    const { outcome, deltas } = perform(openaiChat(connection(baseURL)));
    const got = await outcome;
    expect(JSON.stringify(got)).not.toContain(said);
    for (const type of ["text", "reasoning", "toolCall"] as const) {
      const shown = textOf(deltas.filter((delta) => delta.type === type));
      expect(shown).not.toContain(said);
      expect(shown).toContain("[redacted]");
    }
    expect(JSON.stringify(deltas)).not.toContain(said);
    expect(textOf(deltas.filter(({ type }) => type === "text"))).toBe("Your key is [redacted], really.");
    expect(got).toMatchObject({ type: "completed", finishReason: "stop [redacted]" });
  });

  test("leaves it in no error, nor in what came before one", async () => {
    const escaped = Array.from(said, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`).join(
      "",
    );
    for (const answer of [
      answeringJson({ error: { message: `no access for ${said}`, code: said, type: said } }, 401),
      answeringJson({ error: { message: said.repeat(400), code: said.repeat(20) } }, 500),
      answeringJson({ nothing: said }),
      answering(`{"nothing": "${escaped}"}`),
      answering(`{"choices": [{"message": {"content": "${said}`),
      streaming(
        eventOf({ choices: [{ index: 0, delta: { content: `a ${said}` } }] }),
        eventOf({ error: { message: said } }),
      ),
      // Cut off in the middle of the key.
      streaming(eventOf({ choices: [{ index: 0, delta: { content: `a ${said.slice(0, -1)}` } }] })),
    ]) {
      const { baseURL } = await chatServer(answer);
      const { outcome, deltas } = perform(openaiChat(connection(baseURL)));
      const got = await outcome;
      expect(got.type).toBe("failed");
      expect(JSON.stringify([got, deltas])).not.toContain(said.slice(0, -1));
    }
  });
});

test("a key that is fetched for each request is known when the answer comes", async () => {
  const { baseURL } = await chatServer(
    answeringJson({ model: key, choices: [{ message: { content: key }, finish_reason: key }] }),
  );
  const { outcome } = perform(openaiChat({ baseURL, apiKey: async () => key }));
  expect(await outcome).toMatchObject({
    reply: { content: "[redacted]" },
    model: "[redacted]",
    finishReason: "[redacted]",
  });
});

test("a key that is cut over the parts of a streamed text is taken out as it is where it stands in one", async () => {
  const parts = [`It is ${key.slice(0, 9)}`, key.slice(9), " and", " more"].map((text) => ({ type: "text", text }));
  const { baseURL } = await chatServer(
    streaming(
      ...parts.map((part) => eventOf({ choices: [{ delta: { content: [part] } }] })),
      eventOf({ choices: [{ delta: {}, finish_reason: "stop" }] }),
      "data: [DONE]\n\n",
    ),
  );
  const { outcome, deltas } = perform(openaiChat(connection(baseURL)));
  expect(await outcome).toMatchObject({ type: "completed", reply: { content: "It is [redacted] and more" } });
  expect(textOf(deltas)).toBe("It is [redacted] and more");
});

test("a header is a key's by the words of its name, not by a piece of one", () => {
  const isKey = (name: string, value: string): boolean =>
    keysIn(sentBy(new OpenAI({ apiKey: key, defaultHeaders: { [name]: value } }))).includes(value);
  for (const name of ["x-api-key", "apikey", "Ocp-Apim-Subscription-Key", "X-Auth", "x-goog-signature", "accessToken"])
    expect([name, isKey(name, "some-value-9")]).toEqual([name, true]);
  for (const name of ["x-design-version", "X-Authority", "x-author"])
    expect([name, isKey(name, "release-2026")]).toEqual([name, false]);
});

test("text that is not a key stays in replies: a placeholder, a title, an address", async () => {
  const defaultHeaders = { "x-title": "Travel assistant", "http-referer": "https://travel.example/app" };
  const content = "Your assistant at https://travel.example/app: nothing is not-needed here, tasks end in s";
  const { baseURL } = await chatServer(
    answeringJson({ model: "not-needed/llama", choices: [{ message: { content }, finish_reason: "stop" }] }),
  );
  const { outcome, deltas } = perform(openaiChat({ baseURL, apiKey: "not-needed", defaultHeaders }));
  expect(await outcome).toMatchObject({ reply: { content }, model: "not-needed/llama" });
  expect(textOf(deltas)).toBe(content);
});

test("keys are also what an environment variable of the SDK sets, and a header that looks like one", () => {
  const given = { "x-proxy": "0123456789abcdef0123456789abcdef", cookie: "a=1; session=s3cret-session" };
  process.env["OPENAI_CUSTOM_HEADERS"] = "x-gateway-token: gateway-secret-3";
  try {
    const keys = keysIn(sentBy(new OpenAI({ apiKey: key, defaultHeaders: given })));
    expect(keys).toEqual(
      expect.arrayContaining([key, "gateway-secret-3", "0123456789abcdef0123456789abcdef", "s3cret-session"]),
    );
  } finally {
    delete process.env["OPENAI_CUSTOM_HEADERS"];
  }
});

test.each<[string, readonly string[], readonly string[]]>([
  ["a short word", [], ["abcdefghijklmno", "not-needed", "no key.at_all", "None"]],
  ["a longer word, or one with a digit", ["abcdefghijklmnop", "key-1", "a--b", "-a", "a-"], []],
])("%s of a client is a placeholder or a key", (_, keys, placeholders) => {
  const found = (value: string): boolean => keysIn(sentBy({ apiKey: value })).includes(value);
  expect(keys.filter((value) => !found(value))).toEqual([]);
  expect(placeholders.filter(found)).toEqual([]);
});

test("keys are those of a client, and of its headers and parameters in each form", () => {
  const headers = new Headers([
    ["x-api-key", "header-key-1"],
    ["x-note", "header-note-1"],
  ]);
  const rows = [
    ["x-secret", ["first-secret-1", "second-secret-1"]],
    ["x-none", null],
  ];
  const options = {
    apiKey: "client-key-1",
    adminAPIKey: "admin-key-1",
    defaultQuery: { sig: "query-sig-1", page: "page-1" },
  };
  const keys = ["client-key-1", "admin-key-1", "query-sig-1"];
  const found = (defaultHeaders: unknown): readonly string[] => [
    // Cast: the SDK takes all these forms.
    ...new Set(keysIn(sentBy({ ...options, defaultHeaders } as ConstructorParameters<typeof OpenAI>[0] & object))),
  ];
  expect(found(undefined).toSorted()).toEqual(keys.toSorted());
  expect(found(null).toSorted()).toEqual(keys.toSorted());
  expect(found({ "X-Api-Key": "object-key-1" }).toSorted()).toEqual([...keys, "object-key-1"].toSorted());
  expect(found(headers).toSorted()).toEqual([...keys, "header-key-1"].toSorted());
  expect(found({ values: headers }).toSorted()).toEqual([...keys, "header-key-1"].toSorted());
  expect(found(rows).toSorted()).toEqual([...keys, "first-secret-1", "second-secret-1"].toSorted());
});

test("no error may show a key, a value of a header or parameter, or a part of one, as it is or as an address has it", () => {
  const secrets = secretsIn([{ name: "x-any", value: "Bearer a/b; c=d/e,f\tg" }]);
  for (const part of ["Bearer a/b; c=d/e,f\tg", "Bearer", "a/b", "a%2Fb", "c=d/e", "d/e", "d%2Fe", "f", "g"])
    expect(secrets).toContain(part);
});

test("secrets of the environment are known by the names of their variables", () => {
  const kept = [
    "A_KEY",
    "MYTOKEN",
    "SECRET_OF_A",
    "DB_PASSWORD",
    "PASSWD",
    "PASS",
    "SSH_PASSPHRASE",
    "CREDENTIAL",
    "A_CREDENTIALS_B",
    "X_AUTH",
    "api_key",
  ];
  const others = ["KEYBOARD", "PASSAGE", "AUTHOR", "BYPASS_X_", "MONKEYS", "TOKENS"];
  for (const name of [...kept, ...others]) vi.stubEnv(name, `value/of ${name}`);
  vi.stubEnv("PEM_KEY", "first line\r\nsecond/line\nthird");
  vi.stubEnv("LONG_KEY", "x".repeat(5_000));
  const secrets = secretsOfEnvironment();
  const has = (name: string): boolean => secrets.includes(`value/of ${name}`);
  expect(kept.filter((name) => !has(name))).toEqual([]);
  expect(others.filter(has)).toEqual([]);
  expect(secrets).toContain("value%2Fof%20A_KEY");
  for (const part of ["first line\r\nsecond/line\nthird", "first line", "second/line", "second%2Fline", "third"])
    expect(secrets).toContain(part);
  expect(secrets).toContain("x".repeat(4_096));
  vi.unstubAllEnvs();
});

test("keys of providers in the environment are known by the names of their variables, unless they are short", () => {
  const kept = [
    "ANTHROPIC_API_KEY",
    "API_KEY",
    "HF_API_TOKEN",
    "AWS_ACCESS_KEY",
    "X_AUTH_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "A_BEARER_TOKEN",
  ];
  const others = ["A_KEY", "API_KEY_ID", "MYAPI_KEYS", "AUTH_TOKEN_2", "XAPI_KEY"];
  for (const name of [...kept, ...others]) vi.stubEnv(name, `sixteen or more of ${name}`);
  vi.stubEnv("SHORT_API_KEY", "x".repeat(15));
  vi.stubEnv("ENOUGH_API_KEY", "y".repeat(16));
  vi.stubEnv("LONG_API_KEY", "z".repeat(5_000));
  const keys = keysOfEnvironment();
  const has = (name: string): boolean => keys.includes(`sixteen or more of ${name}`);
  expect(kept.filter((name) => !has(name))).toEqual([]);
  expect(others.filter(has)).toEqual([]);
  expect(keys).not.toContain("x".repeat(15));
  expect(keys).toContain("y".repeat(16));
  expect(keys).toContain("z".repeat(4_096));
  vi.stubGlobal("process", undefined);
  const withoutProcess = [secretsOfEnvironment(), keysOfEnvironment()];
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  expect(withoutProcess).toEqual([[], []]);
});
