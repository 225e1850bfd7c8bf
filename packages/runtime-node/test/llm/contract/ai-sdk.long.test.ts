import { createOpenAI, type OpenAIProvider } from "@ai-sdk/openai";
import { modelContract, type ModelServer } from "@colloquy/runtime-test/contracts";
import { aiSdkModel } from "../../../src/llm/ai-sdk/index.ts";

/** Makes a provider that follows no redirects, unlike the AI SDK by default. */
const provider = ({ url, apiKey }: ModelServer): OpenAIProvider =>
  createOpenAI({
    baseURL: url,
    apiKey,
    fetch: (input, init) => fetch(input, { ...init, redirect: "manual" }),
  });

// The AI SDK always streams here. It has no refusals, and this provider no reasoning over chat completions.
modelContract("aiSdkModel over chat completions", (server) => aiSdkModel(provider(server).chat("any")), {
  dialect: "chat",
  without: ["plain", "refusals", "reasoning"],
});

modelContract("aiSdkModel over the Responses API", (server) => aiSdkModel(provider(server).responses("any")), {
  dialect: "responses",
  without: ["plain", "refusals"],
});
