import {
  ConfigurationError,
  type JsonObject,
  messageFromDraft,
  messageFromReply,
  messageFromResult,
} from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { openaiResponses } from "../../src/llm/openai.ts";
import { callOf as call, perform } from "./call.ts";
import {
  callOf,
  eventsOf,
  exchange,
  handlerFor,
  messageOf,
  offered,
  reasoning,
  responseOf,
  answered,
  streaming,
  weather,
} from "./responses.ts";
import { type Answer, answeringJson, chatServer } from "./server.ts";

describe("a request", () => {
  test("stores nothing and wants reasoning that can be sent back", async () => {
    const { sent } = await exchange(answered);
    expect(sent).toEqual({
      model: "model-1",
      store: false,
      include: ["reasoning.encrypted_content"],
      stream: true,
      input: [{ type: "message", role: "user", content: "why?" }],
    });
  });

  test("wants what its parameters say, and nothing beside the answer if they say null", async () => {
    const included = async (include: readonly string[] | null) =>
      (await exchange(answered, { model: { include } })).sent["include"];
    expect(await included(["message.output_text.logprobs"])).toEqual(["message.output_text.logprobs"]);
    expect(await included(null)).toBeUndefined();
  });

  test("sends a reasoning item only before an item of the model, and an id only once", async () => {
    const sealed = (id: string) => ({ type: "reasoning", id, summary: [], encrypted_content: "ENC" });
    const item = (value: JsonObject) => ({
      type: "reasoning" as const,
      text: "",
      provider: { responses: { item: value } },
    });
    const said = (id: string, ...content: readonly (ReturnType<typeof item> | { type: "text"; text: string })[]) =>
      messageFromReply(id, id, { content });
    const messages = [
      messageFromDraft("1.0", { role: "user", content: "a" }),
      said("1.1", item(sealed("rs_1")), item(sealed("rs_2")), { type: "text", text: "b" }),
      messageFromDraft("2.0", { role: "user", content: "c" }),
      said("2.1", { type: "text", text: "d" }, item(sealed("rs_3"))),
      messageFromDraft("3.0", { role: "user", content: "e" }),
      said("3.1", item(sealed("rs_1")), { type: "text", text: "f" }),
    ];
    const message = (role: string, content: string) => ({ type: "message", role, content });
    const { id: _, ...again } = sealed("rs_1");
    expect((await exchange(answered, { messages })).sent["input"]).toEqual([
      message("user", "a"),
      sealed("rs_1"),
      sealed("rs_2"),
      message("assistant", "b"),
      message("user", "c"),
      message("assistant", "d"),
      message("user", "e"),
      again,
      message("assistant", "f"),
    ]);
  });

  test("offers exactly the tools of the call, and none for a summary", async () => {
    const wire = [
      { type: "function", name: "weather", description: "The weather.", parameters: { type: "object" }, strict: false },
    ];
    const model = { parallel_tool_calls: false };
    expect((await exchange(answered, { ...offered, model }, [weather])).sent).toMatchObject({ tools: wire, ...model });
    expect((await exchange(answered, { tools: [] }, [weather])).sent).not.toHaveProperty("tools");
    const { sent } = await exchange(answered, { ...offered, model, purpose: "summary" }, [weather]);
    expect(sent).not.toHaveProperty("tools");
    expect(sent).not.toHaveProperty("parallel_tool_calls");
    expect((await exchange(answered, offered)).outcome).toMatchObject({
      failure: {
        kind: "bad_request",
        message: expect.stringContaining('the tool "weather", and openaiResponses has no'),
      },
    });
  });

  test("sends back reasoning, phases and ids as they came, and no reasoning without what is encrypted", async () => {
    const output = [reasoning, messageOf("Wait.", { phase: "commentary" }), callOf("a", "Oslo"), callOf("b", "Rome")];
    const { outcome } = await exchange(answeringJson(responseOf(output)));
    if (outcome.type === "failed") throw new Error(outcome.failure.message);
    const first = messageFromReply("1.1", "1.1", outcome.reply);
    const results = ["a", "b"].map((id, index) =>
      messageFromResult({ callId: `1.1.${index}`, providerCallId: id, name: "weather" }, "completed", "sun"),
    );
    const bare = {
      type: "reasoning" as const,
      text: "hm",
      provider: { responses: { item: { type: "reasoning", id: "rs_2" } } },
    };
    const second = messageFromReply("1.2", "1.2", { content: [bare, { type: "text", text: "Sun." }] });
    const messages = [messageFromDraft("1.0", { role: "user", content: "?" }), first, ...results, second];
    const content = [{ type: "output_text", text: "Wait.", annotations: [] }];
    const calls = [
      ...output.map((item) => ("content" in item ? { ...item, content } : item)),
      { type: "function_call_output", call_id: "a", output: "sun" },
      { type: "function_call_output", call_id: "b", output: "sun" },
    ];
    const { sent } = await exchange(answered, { messages });
    expect(sent["input"]).toEqual([
      { type: "message", role: "user", content: "?" },
      ...calls,
      { type: "message", role: "assistant", content: "Sun." },
    ]);
    const stored = await exchange(answered, { messages, model: { store: true } });
    expect(stored.sent["input"]).toContainEqual({ type: "reasoning", id: "rs_2" });
  });
});

describe("a model that refuses to encrypt its reasoning", () => {
  const refusal = {
    error: {
      message: "Encrypted content is not supported with this model.",
      type: "invalid_request_error",
      param: "include",
      code: null,
    },
  };
  const answer: Answer = (request, response, body) =>
    (body["include"] === undefined ? answered : answeringJson(refusal, 400))(request, response, body);

  test("is asked once more without, and from then on at once", async () => {
    const { baseURL, bodies } = await chatServer(answer);
    const handler = handlerFor(baseURL);
    for (const model of ["model-1", "model-1", "model-2"])
      expect(await perform(handler, call({ model: { model } })).outcome).toMatchObject({ type: "completed" });
    expect(bodies.map(({ model, include }) => [model, include !== undefined])).toEqual([
      ["model-1", true],
      ["model-1", false],
      ["model-1", false],
      ["model-2", true],
      ["model-2", false],
    ]);
  });

  test.each([
    ["something that has to be included", "Your input must include at least one user message.", null],
    ["reasoning of another account", "The encrypted content could not be verified.", "invalid_encrypted_content"],
  ])("is not one that refuses %s", async (_, message, code) => {
    const { outcome, bodies } = await exchange(answeringJson({ error: { message, code } }, 400));
    expect(outcome).toMatchObject({ failure: { kind: "bad_request", message } });
    expect(bodies).toHaveLength(1);
  });

  test("is not asked again when it had begun to speak", async () => {
    const spoken = eventsOf(messageOf("Sun"), 0);
    const { outcome, bodies } = await exchange(streaming(...spoken, { type: "error", ...refusal }));
    expect(outcome).toMatchObject({ failure: { kind: "bad_request" }, partial: { content: "Sun" } });
    expect(bodies).toHaveLength(1);
  });
});

describe("options", () => {
  test("that there are none of are refused in words", () => {
    const misspelt = { apiKey: "k", modell: "model-1" };
    expect(() => openaiResponses(misspelt)).toThrow(ConfigurationError);
    expect(() => openaiResponses(misspelt)).toThrow(/openaiResponses.*modell/);
    const worded: object = { apiKey: "k", stream: "no" };
    expect(() => openaiResponses(worded)).toThrow('openaiResponses: stream must be true or false (got "no")');
  });

  test("are a copy", async () => {
    const { baseURL, bodies } = await chatServer(answered);
    const options = { baseURL, apiKey: "k", model: "model-1" };
    const handler = openaiResponses(options);
    options.model = "model-2";
    await perform(handler).outcome;
    expect(bodies[0]).toMatchObject({ model: "model-1" });
  });
});
