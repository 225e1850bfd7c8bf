// Calls a model of Anthropic, or of any other AI SDK provider. Without ANTHROPIC_API_KEY, canned answers stand in.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createHost, memoryStore, tool } from "@colloquy/runtime-node";
import { aiSdkModel } from "@colloquy/runtime-node/ai-sdk";
import { z } from "zod";

const block = (index: number, begin: object, ...deltas: readonly object[]) => [
  { type: "content_block_start", index, content_block: begin },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
const usage = { input_tokens: 20, output_tokens: 9 };
const answer = (stop_reason: string, ...blocks: readonly object[]) => [
  { type: "message_start", message: { id: "m", model: "claude", role: "assistant", content: [], usage } },
  ...blocks,
  { type: "message_delta", delta: { stop_reason }, usage },
  { type: "message_stop" },
];
const thinking = { type: "thinking", thinking: "I must look it up.", signature: "" };
const call = { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Oslo" } };
const canned = (_url: unknown, init?: { readonly body?: unknown }): Promise<Response> => {
  const isSecond = String(init?.body).includes("tool_result");
  // The request repeats the signed thinking; else a real server would refuse it.
  if (isSecond) console.log("signed thinking went back:", String(init?.body).includes('"signature":"c2lnbmVk=="'));
  const events = isSecond
    ? answer(
        "end_turn",
        ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "The sun shines in Oslo." }),
      )
    : answer(
        "tool_use",
        ...block(0, thinking, { type: "signature_delta", signature: "c2lnbmVk==" }),
        ...block(1, { ...call, input: {} }, { type: "input_json_delta", partial_json: JSON.stringify(call.input) }),
      );
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
};

const anthropic = createAnthropic({
  apiKey: process.env["ANTHROPIC_API_KEY"] ?? "none",
  ...(process.env["ANTHROPIC_API_KEY"] === undefined ? { fetch: canned } : {}), // delete this line for the real model
});
const weather = tool({
  name: "weather",
  description: "The weather of a city.",
  input: z.object({ city: z.string() }),
  run: ({ city }) => `The sun shines in ${city}.`,
});
const thinks = { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } };
const host = createHost({
  llm: aiSdkModel(anthropic("claude-sonnet-4-5"), { providerOptions: thinks }),
  tools: [weather],
  store: memoryStore(),
});

const result = await host.ask("What is the weather in Oslo?");
console.log(result.text, result.usage.outputTokens.sum, "tokens");
await host.close();
