import { limitCalls, type LlmHandler, memoryStore, tool } from "@colloquy/host";
import { systemClock } from "@colloquy/runtime-node";
import { scriptedModel, reply, toolCalls } from "@colloquy/runtime-test/models";
import OpenAI from "openai";
import { promptFormat } from "@colloquy/interchange/templates";
import { expect, test } from "vitest";
import { createHost, openaiChat, openaiResponses, textCompletion } from "../../../src/index.ts";

const apiKey = "oddly-formed-key";
const headerKey = "oddly-formed-header";
const given = { apiKey, baseURL: "http://127.0.0.1:1/v1", defaultHeaders: { "x-api-key": headerKey } };
const marks = { role: "", role_sep: "", pre: "", suf: "" };
const template = promptFormat({ user: marks, agent: marks, system_prompt: marks, prompt: marks });

test.each<[string, LlmHandler]>([
  ["openaiChat", openaiChat(given)],
  ["openaiResponses", openaiResponses(given)],
  ["textCompletion", textCompletion({ ...given, template })],
  ["openaiChat with a client", openaiChat({ client: new OpenAI(given) })],
  ["limitCalls", limitCalls(openaiChat(given), { atOnce: 1 })],
])("%s tells its host the keys that it sends", (_, handler) => {
  expect(handler.secrets?.()).toEqual(expect.arrayContaining([apiKey, headerKey]));
});

test("a tool's error has no key of the model handler, and none of the environment", async () => {
  process.env["SHOP_API_KEY"] = "oddly-formed-of-shop";
  try {
    const store = memoryStore({ clock: systemClock });
    const model = scriptedModel([toolCalls([{ name: "look", arguments: {} }]), reply("ok")]);
    const run = (): never => {
      throw new Error(`refused ${apiKey} and oddly-formed-of-shop`);
    };
    const host = createHost({
      llm: Object.assign(model, { secrets: () => openaiChat(given).secrets?.() ?? [] }),
      store,
      tools: [tool({ name: "look", description: "", input: { jsonSchema: { type: "object" } }, run })],
    });
    await host.ask("go", { threadId: "t" });
    await host.close();
    const journal = JSON.stringify(await store.read("t"));
    expect(journal).toContain("refused [redacted] and [redacted]");
    expect(journal).not.toContain("oddly-formed");
  } finally {
    delete process.env["SHOP_API_KEY"];
  }
});
