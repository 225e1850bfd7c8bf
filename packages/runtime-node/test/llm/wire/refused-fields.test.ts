import {
  type Message,
  messageFromDraft,
  messageFromReply,
  messageFromResult,
  type ReplyDraft,
  toolCallsOf,
} from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { openaiChat, openaiResponses } from "../../../src/llm/openai.ts";
import { callOf, perform } from "../call.ts";
import { answeringJson, chatServer } from "../server.ts";

const item = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "SEALED" };
const ofResponses: ReplyDraft = {
  content: [
    { type: "reasoning", text: "", provider: { responses: { item } } },
    { type: "text", text: "Because." },
  ],
};
const ofChat: ReplyDraft = { content: "Because.", provider: { thinking_blocks: [{ signature: "SEALED" }] } };

/** Makes a server that refuses its own reply with a message, a thread with that reply, and a handler. */
const refusing = async (make: typeof openaiChat | typeof openaiResponses, reply: ReplyDraft, message: string) => {
  const answer = {
    choices: [{ index: 0, message: { content: "Yes." }, finish_reason: "stop" }],
    output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Yes." }] }],
  };
  const { baseURL, bodies } = await chatServer((request, response, body) => {
    const isRefused = JSON.stringify(body).includes("SEALED");
    const code = message.startsWith("The encrypted content") ? "invalid_encrypted_content" : null;
    const refusal = { error: { message, type: "invalid_request_error", code } };
    answeringJson(isRefused ? refusal : answer, isRefused ? 400 : 200)(request, response, body);
  });
  const origin = `${new URL(baseURL).host} m`;
  const isPlain = typeof reply.content === "string" && reply.provider === undefined;
  const thread = (): readonly Message[] => [
    messageFromDraft("1.0", { role: "user", content: "why?" }),
    messageFromReply("1.1", "1.1", isPlain ? reply : { ...reply, provider: { ...reply.provider, origin } }),
    messageFromDraft("2.0", { role: "user", content: "Sure?" }),
  ];
  const handler = make({ baseURL, apiKey: "none", model: "m", stream: false });
  return { bodies, thread, ask: (messages: readonly Message[]) => perform(handler, callOf({ messages })).outcome };
};

const asked = async (...given: Parameters<typeof refusing>) => {
  const { ask, thread, bodies } = await refusing(...given);
  return { outcome: await ask(thread()), bodies };
};

describe("a server that refuses what it gave itself", () => {
  test.each([
    "The encrypted content gAAA...c90= could not be verified.",
    "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    "Invalid 'input[1].id': string too long. Expected a string with maximum length 64.",
  ])("is asked once more without it, by the Responses API: %s", async (message) => {
    const { outcome, bodies } = await asked(openaiResponses, ofResponses, message);
    expect(outcome).toMatchObject({ type: "completed", reply: { content: "Yes." } });
    expect(bodies).toHaveLength(2);
    expect(JSON.stringify(bodies[1])).toContain("Because.");
  });

  test.each([
    "messages.1.content.0: Invalid `signature` in `thinking` block",
    "Thought signature is not valid.",
    "Invalid value: 'thinking'. Supported values are: 'text', 'refusal'.",
    "messages[1]: unknown variant `thinking`, expected `text` at line 1 column 9",
    "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
    "body.messages.1.assistant.reasoning_content: Extra inputs are not permitted",
  ])("is asked once more without it, by chat completions: %s", async (message) => {
    const { outcome, bodies } = await asked(openaiChat, ofChat, message);
    expect(outcome).toMatchObject({ type: "completed", reply: { content: "Yes." } });
    expect(bodies).toHaveLength(2);
  });

  test("is asked once a call afterwards, in all threads if it refuses a field", async () => {
    const message = "body.messages.1.assistant.thinking_blocks: Extra inputs are not permitted";
    const { ask, thread, bodies } = await refusing(openaiChat, ofChat, message);
    for (const messages of [thread(), thread(), thread()])
      expect(await ask(messages)).toMatchObject({ type: "completed" });
    expect(bodies).toHaveLength(4);
  });

  test("is asked once a call afterwards, in the same thread if it refuses what a field has", async () => {
    const message = "messages.1.content.0: Invalid `signature` in `thinking` block";
    const { ask, thread, bodies } = await refusing(openaiChat, ofChat, message);
    const [one, other] = [thread(), thread()];
    await ask(one);
    const reply = messageFromReply("2.1", "2.1", { content: "Yes.", provider: { origin: "" } });
    expect(await ask([...one, reply])).toMatchObject({ type: "completed" });
    expect(bodies).toHaveLength(3);
    await ask(other);
    expect(bodies).toHaveLength(5);
    expect(JSON.stringify(bodies[3])).toContain("SEALED");
    await ask(one);
    expect(bodies).toHaveLength(6);
  });

  test("is asked once a call afterwards, if it refuses the field that its dialect owes", async () => {
    const { baseURL, bodies } = await chatServer((request, response, body) => {
      const isRefused = JSON.stringify(body).includes("reasoning_content");
      const refusal = { error: { message: "Unexpected field reasoning_content in messages[1]" } };
      const answer = { choices: [{ index: 0, message: { content: "Yes." }, finish_reason: "stop" }] };
      answeringJson(isRefused ? refusal : answer, isRefused ? 400 : 200)(request, response, body);
    });
    const handler = openaiChat({ baseURL, apiKey: "none", model: "m", stream: false, dialect: "deepseek" });
    const reply = messageFromReply("1.1", "1.1", { toolCalls: [{ id: "a", name: "f", arguments: "{}" }] });
    const results = toolCallsOf(reply).map((call) => messageFromResult(call, "completed", "there"));
    const messages = [messageFromDraft("1.0", { role: "user", content: "?" }), reply, ...results];
    for (const threadId of ["a", "b"])
      expect(await perform(handler, callOf({ threadId, messages })).outcome).toMatchObject({ type: "completed" });
    expect(bodies).toHaveLength(3);
  });

  test("gets the fields again in the next call if it refused the second attempt too", async () => {
    let isBroken = true;
    const answer = { choices: [{ index: 0, message: { content: "Yes." }, finish_reason: "stop" }] };
    const { baseURL, bodies } = await chatServer((request, response, body) => {
      const message = "body.messages.1.assistant.thinking_blocks: Extra inputs are not permitted";
      answeringJson(isBroken ? { error: { message } } : answer, isBroken ? 400 : 200)(request, response, body);
    });
    const handler = openaiChat({ baseURL, apiKey: "none", model: "m", stream: false });
    const reply = { ...ofChat, provider: { ...ofChat.provider, origin: `${new URL(baseURL).host} m` } };
    const messages = [
      messageFromDraft("1.0", { role: "user", content: "why?" }),
      messageFromReply("1.1", "1.1", reply),
      messageFromDraft("2.0", { role: "user", content: "Sure?" }),
    ];
    expect(await perform(handler, callOf({ messages })).outcome).toMatchObject({ type: "failed" });
    isBroken = false;
    expect(await perform(handler, callOf({ messages })).outcome).toMatchObject({ type: "completed" });
    expect(bodies.map((body) => JSON.stringify(body).includes("SEALED"))).toEqual([true, false, true]);
  });

  test("is not asked again if it refuses something else, or the thread has nothing of it", async () => {
    const other = await asked(openaiChat, ofChat, "temperature must be at most 2");
    expect(other.outcome).toMatchObject({ type: "failed", failure: { kind: "bad_request" } });
    expect(other.bodies).toHaveLength(1);
    const plain = await asked(openaiChat, { content: "SEALED" }, "Thought signature is not valid.");
    expect(plain.outcome).toMatchObject({ type: "failed" });
    expect(plain.bodies).toHaveLength(1);
  });
});
