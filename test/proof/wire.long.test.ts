import { checkWireLaws, LawBroken, surveyWire, type WireTarget } from "@colloquy/runtime-test/laws";
import { type StrictFamily, strictRefusal } from "@colloquy/runtime-test/server";
import { beforeAll, describe, expect, it } from "vitest";

import { wireTargets } from "../../proof/wire/targets.ts";

/** Few enough for each run; `pnpm wire` has as many as one likes. */
const threads = 100;
const seed = 7;

/** The body of a request, which a fault changes. */
interface Body {
  messages: Message[];
  input: Message[];
  tools: { function: { name: string; parameters: object } }[];
  prompt: string;
}

type Message = Record<string, unknown>;

/** A mistake that a handler could make, as a change of what it sends; and the rule that must catch it. */
interface Fault {
  readonly name: string;
  readonly family: StrictFamily;
  readonly rule: string;
  /** Null where the body gives no occasion. */
  readonly commit: (body: Body) => unknown;
}

const callsIn = (message: Message | undefined): { id: string; function: Message }[] =>
  // Bodies of our own handlers.
  (message?.["tool_calls"] ?? []) as { id: string; function: Message }[];

const last = (list: readonly Message[], role: string): Message | undefined =>
  list.findLast((message) => message["role"] === role);

const withCalls = ({ messages }: Body): Message | undefined => messages.findLast((each) => callsIn(each).length > 0);

const renamed = (body: Body, nameOf: (id: string) => string): void => {
  for (const message of body.messages) {
    for (const call of callsIn(message)) call.id = nameOf(call.id);
    if (typeof message["tool_call_id"] === "string") message["tool_call_id"] = nameOf(message["tool_call_id"]);
  }
};

const set = (message: Message | undefined, member: string, value: unknown): unknown =>
  message === undefined ? null : Object.assign(message, { [member]: value });

const without = (list: Message[], message: Message | undefined): unknown =>
  message === undefined ? null : list.splice(list.indexOf(message), 1);

const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } };

const faults: readonly Fault[] = [
  {
    name: "arguments go back as they came",
    family: "llama.cpp",
    rule: "arguments of calls",
    commit: (body) => set(callsIn(withCalls(body))[0]?.function, "arguments", '{"city":"Os'),
  },
  {
    name: "arguments are no object",
    family: "ollama",
    rule: "arguments of calls",
    commit: (body) => set(callsIn(withCalls(body))[0]?.function, "arguments", ""),
  },
  {
    name: "ids repeat over rounds",
    family: "anthropic",
    rule: "ids of calls differ",
    commit: (body) => renamed(body, () => "call_0"),
  },
  {
    name: "ids are too long",
    family: "openai-chat",
    rule: "ids of calls",
    commit: (body) => renamed(body, (id) => id + "x".repeat(40)),
  },
  {
    name: "ids have other characters",
    family: "mistral",
    rule: "ids of calls",
    commit: (body) => renamed(body, (id) => `call_${id}`),
  },
  {
    name: "an image stays in the message of a tool",
    family: "openai-chat",
    rule: "images",
    commit: ({ messages }) => set(last(messages, "tool"), "content", [image]),
  },
  {
    name: "the text of a tool is a list",
    family: "deepseek",
    rule: "lists of parts",
    commit: ({ messages }) => set(last(messages, "tool"), "content", [{ type: "text", text: "a" }]),
  },
  {
    name: "an empty reply is sent",
    family: "mistral",
    rule: "replies that say nothing",
    commit: ({ messages }) =>
      set(
        messages.findLast((each) => each["role"] === "assistant" && callsIn(each).length === 0),
        "content",
        "",
      ),
  },
  {
    name: "a reply of white space is sent",
    family: "anthropic",
    rule: "blank text",
    commit: ({ messages }) =>
      set(
        messages.findLast((each) => each["role"] === "assistant" && callsIn(each).length === 0),
        "content",
        "\n",
      ),
  },
  {
    name: "half of a surrogate pair is sent",
    family: "openai-chat",
    rule: "well-formed text",
    commit: ({ messages }) => set(last(messages, "user"), "content", "\ud83d"),
  },
  {
    name: "a field of another server is sent",
    family: "groq",
    rule: "members of messages",
    commit: ({ messages }) => set(last(messages, "assistant"), "reasoning_content", "Hm."),
  },
  {
    name: "a name is sent as it is",
    family: "openai-chat",
    rule: "names of speakers",
    commit: ({ messages }) => set(last(messages, "user"), "name", "Ann Lee"),
  },
  {
    name: "a name is sent where there is none",
    family: "mistral",
    rule: "members of messages",
    commit: ({ messages }) => set(last(messages, "user"), "name", "Ann"),
  },
  {
    name: "the prompt begins with a call",
    family: "gemini",
    rule: "calls follow a question or a result",
    commit: ({ messages }) =>
      messages.splice(
        0,
        messages.findIndex((each) => callsIn(each).length > 0),
      ),
  },
  {
    name: "the prompt begins with a reply",
    family: "anthropic",
    rule: "first message",
    commit: ({ messages }) =>
      messages.splice(
        0,
        messages.findIndex(({ role }) => role === "assistant"),
      ),
  },
  {
    name: "a question follows a result",
    family: "mistral",
    rule: "order of roles",
    commit: ({ messages }) =>
      without(
        messages,
        messages.find(
          (each, index) =>
            each["role"] === "assistant" &&
            messages[index - 1]?.["role"] === "tool" &&
            messages[index + 1]?.["role"] === "user",
        ),
      ),
  },
  {
    name: "a result is lost",
    family: "openai-chat",
    rule: "calls and results",
    commit: ({ messages }) => without(messages, last(messages, "tool")),
  },
  {
    name: "a call is lost",
    family: "gemini",
    rule: "calls and results",
    commit: (body) => without(body.messages, withCalls(body)),
  },
  {
    name: "reasoning that is owed is left out",
    family: "deepseek",
    rule: "reasoning in turns with calls",
    commit: ({ messages }) => messages.map((each) => delete each["reasoning_content"]),
  },
  {
    name: "reasoning of a final answer is left out",
    family: "deepseek",
    rule: "reasoning in turns with calls",
    commit: ({ messages }) => messages.map((each) => callsIn(each).length > 0 || delete each["reasoning_content"]),
  },
  {
    name: "reasoning that Kimi is owed is left out",
    family: "kimi",
    rule: "reasoning beside calls",
    commit: ({ messages }) => messages.map((each) => delete each["reasoning_content"]),
  },
  {
    name: "a second system message is sent",
    family: "vllm",
    rule: "one system message",
    commit: ({ messages }) => messages.splice(1, 0, { role: "system", content: "Be brief." }),
  },
  {
    name: "calls are sent without tools",
    family: "anthropic",
    rule: "calls without tools",
    commit: (body) => (withCalls(body) === undefined ? null : Object.assign(body, { tools: [] })),
  },
  ...(["kimi", "gemini", "llama.cpp"] as const).map((family): Fault => ({
    name: `a schema in a schema is sent as it is to ${family}`,
    family,
    rule: "schemas in schemas",
    commit: ({ tools }) =>
      set(tools[0]?.function, "parameters", {
        type: "object",
        properties: { a: { type: ["string", "null"], pattern: "a" } },
      }),
  })),
  {
    name: "a signature is left out",
    family: "gemini",
    rule: "thought signatures",
    commit: (body) => callsIn(withCalls(body)).map((call) => Object.assign(call, { extra_content: undefined })),
  },
  {
    name: "the name of a tool is sent as it is",
    family: "openai-chat",
    rule: "names of tools",
    commit: ({ tools }) => set(tools[0]?.function, "name", "mcp.look"),
  },
  {
    name: "the name of a call is sent as it is",
    family: "openai-chat",
    rule: "names in the history",
    commit: (body) => set(callsIn(withCalls(body))[0]?.function, "name", "no such tool"),
  },
  {
    name: "a schema is sent as it is",
    family: "openai-chat",
    rule: "schemas of tools",
    commit: ({ tools }) => set(tools[0]?.function, "parameters", { type: "object" }),
  },
  {
    name: "reasoning is sent that nothing follows",
    family: "openai-responses",
    rule: "reasoning is followed",
    commit: ({ input }) => input.push({ type: "reasoning", summary: [], encrypted_content: "x" }),
  },
  {
    name: "reasoning is sent that the server can't read",
    family: "openai-responses",
    rule: "reasoning is encrypted",
    commit: ({ input }) =>
      set(
        input.find(({ type }) => type === "reasoning"),
        "encrypted_content",
        undefined,
      ),
  },
  {
    name: "an item has the id of a call",
    family: "openai-responses",
    rule: "ids of items",
    commit: ({ input }) =>
      set(
        input.find(({ type }) => type === "function_call"),
        "id",
        "call_0",
      ),
  },
  {
    name: "an output is lost",
    family: "openai-responses",
    rule: "calls and results",
    commit: ({ input }) =>
      without(
        input,
        input.find(({ type }) => type === "function_call_output"),
      ),
  },
  {
    name: "the prompt of a text has half of a pair",
    family: "text-completions",
    rule: "well-formed text",
    commit: (body) => Object.assign(body, { prompt: `${body.prompt}\udc00` }),
  },
];

/** The requests of handlers, by the family that they were sent to: only those that its strict server takes. */
const sent = new Map<StrictFamily, string[]>();

const watched = (target: WireTarget): WireTarget => ({
  ...target,
  handler: (server) =>
    target.handler({
      ...server,
      fetch: (url, init) => {
        const body = typeof init?.body === "string" ? init.body : "";
        if (strictRefusal(target.family, body) === null)
          sent.set(target.family, [...(sent.get(target.family) ?? []), body]);
        return server.fetch(url, init);
      },
    }),
});

/** The body with the fault; null where it gives no occasion. */
const committed = ({ commit }: Fault, text: string): string | null => {
  // A body of our own handlers.
  const body = { tools: [], ...(JSON.parse(text) as Partial<Body>) } as Body;
  return commit(body) === null ? null : JSON.stringify(body);
};

describe("every handler, before the strict servers of every family,", () => {
  let found: Awaited<ReturnType<typeof surveyWire>> = [];
  beforeAll(async () => {
    Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
    const few = wireTargets.filter(({ family }) => ["gemini", "anthropic", "openai-responses"].includes(family));
    found = [
      ...(await surveyWire(wireTargets.map(watched), { threads, seed })),
      // Requests that need several steps at one server are rare if all servers take turns.
      ...(await surveyWire(few.map(watched), { threads, seed })),
    ];
  });

  it("keeps the law on bytes, M14", () => {
    expect(found.map(({ target, rule }) => `${target}: ${rule}`)).toEqual([]);
  });

  it.for(faults.map((fault) => [fault.name, fault] as const))("would break the law if %s", ([, fault]) => {
    const broken = (sent.get(fault.family) ?? []).flatMap((text) => {
      const changed = committed(fault, text);
      return changed === null ? [] : (strictRefusal(fault.family, changed)?.rule ?? []);
    });
    expect(broken).toContain(fault.rule);
  });

  it("is reported with the rule, its source, the conversation and the seed", async () => {
    const target: WireTarget = {
      name: "a handler that sends nothing but its question",
      family: "mistral",
      handler:
        ({ fetch, baseURL }) =>
        async () => {
          const messages = [{ role: "user", content: "Hello.", name: "Ann" }];
          await fetch(baseURL, { method: "POST", body: JSON.stringify({ messages }) });
          return { type: "completed", reply: { content: "Yes." }, finishReason: "stop" };
        },
    };
    const broken = await checkWireLaws([target], { threads: 20, seed }).catch((error: unknown) => error);
    expect(broken).toBeInstanceOf(LawBroken);
    expect(String(broken)).toMatch(
      /M14: a handler that sends .*"members of messages" \(https:.*\n422: .*\n.*"name":"Ann".*\nIn this conversation: \{.*\nTo see it again: \{ seed: 7, path: ".*" \}$/,
    );
  });

  it("must not withhold a request", async () => {
    const silent: WireTarget = {
      name: "silent",
      family: "groq",
      handler: () => () =>
        Promise.resolve({ type: "failed", failure: { kind: "bad_request", message: "no", retryable: false } }),
    };
    await expect(checkWireLaws([silent], { threads: 20, seed })).rejects.toThrow(/the handler sent no request \(no\)/);
  });
});
