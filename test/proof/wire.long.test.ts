import { checkWireLaws, LawBroken, surveyWire, type WireTarget } from "@colloquy/runtime-test/laws";
import { type StrictFamily, strictRefusal } from "@colloquy/runtime-test/server";
import { beforeAll, describe, expect, it } from "vitest";

import { wireTargets } from "../../proof/wire/targets.ts";

/** Few enough for each run; `pnpm wire` takes any number. */
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

/** Makes a change to a handler's request; returns null if the body has no place for it. */
type Commit = (body: Body) => unknown;

/** A mistake that a handler could make, and the rule that must catch it. */
type Fault = readonly [name: string, family: StrictFamily, rule: string, commit: Commit];

const callsIn = (message: Message | undefined): { id: string; function: Message }[] =>
  // Cast: our own handlers wrote the body.
  (message?.["tool_calls"] ?? []) as { id: string; function: Message }[];

const withCalls = ({ messages }: Body): Message | undefined => messages.findLast((each) => callsIn(each).length > 0);

const set = (message: Message | undefined, member: string, value: unknown): unknown =>
  message === undefined ? null : Object.assign(message, { [member]: value });

const without = (list: Message[], message: Message | undefined): unknown =>
  message === undefined ? null : list.splice(list.indexOf(message), 1);

const last = ({ messages }: Body, role: string): Message | undefined =>
  messages.findLast((message) => message["role"] === role);

/** These change a member of the newest message of a role, reply without calls, call, tool or item. */
const inLast =
  (role: string, member: string, value: unknown): Commit =>
  (body) =>
    set(last(body, role), member, value);
const inReply =
  (content: string): Commit =>
  ({ messages }) =>
    set(
      messages.findLast((each) => each["role"] === "assistant" && callsIn(each).length === 0),
      "content",
      content,
    );
const inCall =
  (member: string, value: unknown): Commit =>
  (body) =>
    set(callsIn(withCalls(body))[0]?.function, member, value);
const inTool =
  (member: string, value: unknown): Commit =>
  ({ tools }) =>
    set(tools[0]?.function, member, value);
const inItem =
  (type: string, member: string, value: unknown): Commit =>
  ({ input }) =>
    set(
      input.find((item) => item["type"] === type),
      member,
      value,
    );

/** Renames the ids of a body's calls and of their results. */
const renamed =
  (nameOf: (id: string) => string): Commit =>
  ({ messages }) => {
    for (const message of messages) {
      for (const call of callsIn(message)) call.id = nameOf(call.id);
      if (typeof message["tool_call_id"] === "string") message["tool_call_id"] = nameOf(message["tool_call_id"]);
    }
  };

/** Removes all messages before the first that matches. */
const beginningWith =
  (isFirst: (message: Message) => boolean): Commit =>
  ({ messages }) =>
    messages.splice(0, messages.findIndex(isFirst));

/** Removes the reasoning of messages. */
const unreasoned =
  (isMeant: (message: Message) => boolean = () => true): Commit =>
  ({ messages }) =>
    messages.filter(isMeant).map((each) => delete each["reasoning_content"]);

const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } };
const listInSchema = { type: "object", properties: { a: { type: ["string", "null"], pattern: "a" } } };

const faults: readonly Fault[] = [
  ["arguments go back as they came", "llama.cpp", "arguments of calls", inCall("arguments", '{"city":"Os')],
  ["arguments are no object", "ollama", "arguments of calls", inCall("arguments", "")],
  ["ids repeat over rounds", "anthropic", "ids of calls differ", renamed(() => "call_0")],
  ["ids are too long", "openai-chat", "ids of calls", renamed((id) => id + "x".repeat(40))],
  ["ids have other characters", "mistral", "ids of calls", renamed((id) => `call_${id}`)],
  ["an image stays in the message of a tool", "openai-chat", "images", inLast("tool", "content", [image])],
  [
    "the text of a tool is a list",
    "deepseek",
    "lists of parts",
    inLast("tool", "content", [{ type: "text", text: "a" }]),
  ],
  ["an empty reply is sent", "mistral", "replies that say nothing", inReply("")],
  ["a reply of white space is sent", "anthropic", "blank text", inReply("\n")],
  ["half of a surrogate pair is sent", "openai-chat", "well-formed text", inLast("user", "content", "\ud83d")],
  ["a field of another server is sent", "groq", "members of messages", inLast("assistant", "reasoning_content", "Hm.")],
  ["a name is sent as it is", "openai-chat", "names of speakers", inLast("user", "name", "Ann Lee")],
  ["a name is sent where there is none", "mistral", "members of messages", inLast("user", "name", "Ann")],
  [
    "the prompt begins with a call",
    "gemini",
    "calls follow a question or a result",
    beginningWith((each) => callsIn(each).length > 0),
  ],
  ["the prompt begins with a reply", "anthropic", "first message", beginningWith(({ role }) => role === "assistant")],
  [
    "a question follows a result",
    "mistral",
    "order of roles",
    ({ messages }) =>
      without(
        messages,
        messages.find(
          (each, index) =>
            each["role"] === "assistant" &&
            messages[index - 1]?.["role"] === "tool" &&
            messages[index + 1]?.["role"] === "user",
        ),
      ),
  ],
  ["a result is lost", "openai-chat", "calls and results", (body) => without(body.messages, last(body, "tool"))],
  ["a call is lost", "gemini", "calls and results", (body) => without(body.messages, withCalls(body))],
  ["reasoning that is owed is left out", "deepseek", "reasoning in turns with calls", unreasoned()],
  [
    "reasoning of a final answer is left out",
    "deepseek",
    "reasoning in turns with calls",
    unreasoned((each) => callsIn(each).length === 0),
  ],
  ["reasoning that Kimi is owed is left out", "kimi", "reasoning beside calls", unreasoned()],
  [
    "a second system message is sent",
    "vllm",
    "one system message",
    ({ messages }) => messages.splice(1, 0, { role: "system", content: "Be brief." }),
  ],
  [
    "calls are sent without tools",
    "anthropic",
    "calls without tools",
    (body) => (withCalls(body) === undefined ? null : Object.assign(body, { tools: [] })),
  ],
  ...(["kimi", "gemini", "llama.cpp"] as const).map((family): Fault => [
    `a schema in a schema is sent as it is to ${family}`,
    family,
    "schemas in schemas",
    inTool("parameters", listInSchema),
  ]),
  [
    "a signature is left out",
    "gemini",
    "thought signatures",
    (body) => callsIn(withCalls(body)).map((call) => Object.assign(call, { extra_content: undefined })),
  ],
  ["the name of a tool is sent as it is", "openai-chat", "names of tools", inTool("name", "mcp.look")],
  ["the name of a call is sent as it is", "openai-chat", "names in the history", inCall("name", "no such tool")],
  ["a schema is sent as it is", "openai-chat", "schemas of tools", inTool("parameters", { type: "object" })],
  [
    "reasoning is sent that nothing follows",
    "openai-responses",
    "reasoning is followed",
    ({ input }) => input.push({ type: "reasoning", summary: [], encrypted_content: "x" }),
  ],
  [
    "reasoning is sent that the server can't read",
    "openai-responses",
    "reasoning is encrypted",
    inItem("reasoning", "encrypted_content", undefined),
  ],
  ["an item has the id of a call", "openai-responses", "ids of items", inItem("function_call", "id", "call_0")],
  [
    "an output is lost",
    "openai-responses",
    "calls and results",
    ({ input }) =>
      without(
        input,
        input.find(({ type }) => type === "function_call_output"),
      ),
  ],
  [
    "the prompt of a text has half of a pair",
    "text-completions",
    "well-formed text",
    (body) => Object.assign(body, { prompt: `${body.prompt}\udc00` }),
  ],
];

/** The requests of handlers that the strict server of their family accepted. */
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

/** Returns the body with the fault; null if the body has no place for it. */
const committed = (commit: Commit, text: string): string | null => {
  // Cast: our own handlers wrote the body.
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

  it.for(faults)("would break the law if %s", ([, family, rule, commit]) => {
    const broken = (sent.get(family) ?? []).flatMap((text) => {
      const changed = committed(commit, text);
      return changed === null ? [] : (strictRefusal(family, changed)?.rule ?? []);
    });
    expect(broken).toContain(rule);
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
