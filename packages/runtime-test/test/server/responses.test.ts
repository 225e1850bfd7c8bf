import { describe, expect, it } from "vitest";
import { fails, reply, scriptedModel, streams, toolCalls } from "../../src/models/index.ts";
import type { LoopbackServer } from "../../src/server/index.ts";
import { post, serverFor } from "./client.ts";

const ask = (server: LoopbackServer, body: object): Promise<Response> =>
  post(server, { model: "test", input: "Weather?", ...body }, { path: "/v1/responses" });

interface Event {
  readonly type: string;
  readonly sequence_number: number;
  readonly delta?: string;
  readonly item?: object;
  readonly response?: { readonly output: readonly object[]; readonly usage: unknown };
}

/** Returns the events, and checks that the name of each is its type. */
const eventsOf = async (response: Response): Promise<readonly Event[]> =>
  (await response.text())
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => {
      const [, name, data] = /^event: (.+)\ndata: (.+)$/.exec(event) ?? [];
      // This server writes the events; the expectations check them.
      const parsed = JSON.parse(data ?? "null") as Event;
      expect(parsed.type).toBe(name);
      return parsed;
    });

const short = ({ type, delta }: Event): string =>
  type.replace(/^response\./, "") + (delta === undefined ? "" : ` ${JSON.stringify(delta)}`);

const usage = { inputTokens: 10, outputTokens: 3, cacheReadTokens: 4, reasoningTokens: 1 };
const wireUsage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 3,
  output_tokens_details: { reasoning_tokens: 1 },
  total_tokens: 13,
};

const calls = [
  { name: "get_weather", arguments: '{"city":"Reykjavík"}', id: "call_a" },
  { name: "get_weather", arguments: "{}", id: "call_b" },
];

describe("a streamed response", () => {
  it("has each item opened, shown piece by piece, and done, before the next", async () => {
    const model = scriptedModel([
      streams(
        [{ reasoning: "Hm." }, "It is ", "sunny.", { refusal: "No." }, ...calls.map((toolCall) => ({ toolCall }))],
        {
          usage,
          model: "gpt-test",
        },
      ),
    ]);
    const server = await serverFor({ model });
    const response = await ask(server, {
      stream: true,
      store: false,
      reasoning: { summary: "auto" },
      include: ["reasoning.encrypted_content"],
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const events = await eventsOf(response);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.map(short)).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "reasoning_summary_part.added",
      'reasoning_summary_text.delta "Hm."',
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
      "output_item.added",
      "content_part.added",
      'output_text.delta "It is "',
      'output_text.delta "sunny."',
      "output_text.done",
      "content_part.done",
      "content_part.added",
      'refusal.delta "No."',
      "refusal.done",
      "content_part.done",
      "output_item.done",
      "output_item.added",
      'function_call_arguments.delta "{\\"city\\":\\"Rey"',
      'function_call_arguments.delta "kjavík\\"}"',
      "function_call_arguments.done",
      "output_item.done",
      "output_item.added",
      'function_call_arguments.delta "{}"',
      "function_call_arguments.done",
      "output_item.done",
      "completed",
    ]);
    const output = [
      {
        id: "rs_resp_1_0",
        type: "reasoning",
        summary: [{ type: "summary_text", text: "Hm." }],
        encrypted_content: expect.stringMatching(/^gAAAA./),
      },
      {
        id: "msg_resp_1_1",
        type: "message",
        role: "assistant",
        status: "completed",
        content: [
          { type: "output_text", annotations: [], logprobs: [], text: "It is sunny." },
          { type: "refusal", refusal: "No." },
        ],
      },
      ...calls.map(({ id, ...call }, index) => ({
        id: `fc_resp_1_${index + 2}`,
        type: "function_call",
        status: "completed",
        call_id: id,
        ...call,
      })),
    ];
    expect(events.at(-1)).toMatchObject({
      response: { status: "completed", model: "gpt-test", output, usage: wireUsage },
    });
    const done = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
    expect(done).toEqual(events.at(-1)?.response?.output);
  });

  it("shows reasoning as its own text where no summary was asked for", async () => {
    const server = await serverFor({ model: scriptedModel([streams([{ reasoning: "Hm." }, "Yes."])]) });
    const events = await eventsOf(await ask(server, { stream: true }));
    expect(events.map(short).slice(2, 8)).toEqual([
      "output_item.added",
      "content_part.added",
      'reasoning_text.delta "Hm."',
      "reasoning_text.done",
      "content_part.done",
      "output_item.done",
    ]);
    expect(events.at(-1)?.response).toMatchObject({
      output: [{ content: [{ type: "reasoning_text", text: "Hm." }] }, {}],
      usage: null,
    });
  });

  it("says what ended it: a limit, a failure of the server, an error, or nothing at all", async () => {
    const partial = "It is";
    const server = await serverFor({
      model: scriptedModel([
        reply("It is", { finishReason: "length" }),
        fails({ kind: "rate_limit", message: "slow down" }, { partial }),
        fails({ kind: "bad_request", message: "no" }, { partial }),
        fails({ kind: "truncated" }, { partial }),
        fails({ kind: "rate_limit", message: "slow down", retryAfterMs: 1500 }),
      ]),
    });
    const last = async (): Promise<Event | undefined> => (await eventsOf(await ask(server, { stream: true }))).at(-1);
    expect(await last()).toMatchObject({
      type: "response.incomplete",
      response: {
        status: "incomplete",
        incomplete_details: { reason: "max_output_tokens" },
        output: [{ status: "incomplete" }],
      },
    });
    expect(await last()).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: { code: "rate_limit_exceeded", message: "slow down" } },
    });
    expect(await last()).toMatchObject({ type: "error", code: null, message: "no", param: null });
    expect(await last()).toMatchObject({ type: "response.output_text.delta", delta: "is" });
    const refused = await ask(server, { stream: true });
    expect([refused.status, refused.headers.get("retry-after-ms")]).toEqual([429, "1500"]);
  });

  it("can't open the item of a call again", async () => {
    const model = async (_: unknown, { onDelta }: { readonly onDelta: (delta: object) => void }): Promise<never> => {
      for (const index of [0, 1, 0]) onDelta({ type: "toolCall", index, id: `${index}`, name: "f", arguments: "{" });
      throw new Error("not reached");
    };
    // The model gets a valid call, and never answers.
    const server = await serverFor({ model: model as never });
    const text = await (await ask(server, { stream: true })).text();
    expect(text).toContain("the item of call 0 is done");
  });
});

it("a plain response has the items that the stream would have had", async () => {
  const server = await serverFor({ model: scriptedModel([toolCalls(calls, { content: "Wait.", usage })]) });
  const body: unknown = await (await ask(server, { instructions: "Be brief." })).json();
  expect(body).toMatchObject({
    id: "resp_1",
    object: "response",
    status: "completed",
    instructions: "Be brief.",
    store: true,
    output: [
      { type: "message" },
      { type: "function_call", call_id: "call_a" },
      { type: "function_call", call_id: "call_b" },
    ],
    usage: wireUsage,
  });
});

const user = { role: "user", content: "Weather?" };
const call = { type: "function_call", call_id: "a", name: "f", arguments: "{}" };
const output = { type: "function_call_output", call_id: "a", output: "sun" };
const reasoning = { type: "reasoning", id: "rs_1", summary: [] };

describe("a request for a response", () => {
  it("becomes the messages of a conversation", async () => {
    const model = scriptedModel([reply("Sunny.")]);
    const server = await serverFor({ model });
    const said = { type: "message", role: "assistant", id: "msg_1", status: "completed", phase: "final_answer" };
    const response = await ask(server, {
      instructions: "Be brief.",
      input: [
        user,
        { ...reasoning, encrypted_content: "gAAAA" },
        { ...said, content: [{ type: "output_text", text: "Wait.", annotations: [] }] },
        call,
        output,
        { role: "user", content: [{ type: "input_text", text: "Well?" }] },
      ],
    });
    expect(response.status).toBe(200);
    const messages = model.calls[0]?.messages ?? [];
    expect(messages.map(({ role, parts }) => `${role}: ${parts.map(({ type }) => type).join(" ")}`)).toEqual([
      "system: text",
      "user: text",
      "assistant: reasoning text toolCall",
      "tool: toolResult",
      "user: text",
    ]);
  });

  it.each([
    ["no input", { input: undefined }, 400, "missing_required_parameter", "input"],
    ["an unknown item", { input: [user, { type: "thought" }] }, 400, "invalid_value", "input[1].type"],
    ["an unknown field", { input: [{ ...user, name: "Ada" }] }, 400, "unknown_parameter", "input[0].name"],
    [
      "an item without a field",
      { input: [{ type: "function_call", name: "f", call_id: "a" }] },
      400,
      "missing_required_parameter",
      "input[0].arguments",
    ],
    ["an output without its call", { input: [user, output] }, 400, null, "input"],
    ["a call without its output", { input: [user, call] }, 400, null, "input"],
    ["reasoning that nobody kept", { store: false, input: [user, reasoning, call, output] }, 404, null, "input"],
    ["reasoning that nothing follows", { input: [{ ...reasoning, encrypted_content: "g" }, user] }, 400, null, "input"],
    ["an item that nobody kept", { input: [{ type: "item_reference", id: "msg_1" }] }, 404, null, "input"],
    [
      "a response that nobody kept",
      { previous_response_id: "resp_0" },
      400,
      "previous_response_not_found",
      "previous_response_id",
    ],
    ["messages of chat completions", { messages: [user] }, 400, "unsupported_parameter", "messages"],
    ["a tool without a name", { tools: [{ type: "function" }] }, 400, "missing_required_parameter", "tools[0].name"],
    ["stream options for a plain answer", { stream_options: {} }, 400, null, "stream_options"],
  ])("is refused with %s", async (_, body, status, code, param) => {
    const server = await serverFor({ model: scriptedModel([]) });
    const response = await ask(server, body);
    expect([response.status, await response.json()]).toMatchObject([status, { error: { code, param } }]);
  });

  it("may name what was kept of an earlier answer, unless nothing was to be kept", async () => {
    const model = scriptedModel([1, 2, 3].map(() => streams([{ reasoning: "Hm." }, "Yes."])));
    const server = await serverFor({ model });
    const again = (number: number): object => ({
      input: [
        user,
        ...["rs", "msg"].map((prefix, at) => ({ type: "item_reference", id: `${prefix}_resp_${number}_${at}` })),
        user,
      ],
    });
    await ask(server, {});
    expect((await ask(server, { ...again(1), store: false })).status).toBe(200);
    expect(model.calls[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect((await ask(server, again(2))).status).toBe(404);
  });
});
