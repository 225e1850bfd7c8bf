import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { contentText } from "@colloquy/machine";
import { openaiChat, openaiResponses, textCompletion } from "@colloquy/runtime-node";
import { aiSdkModel } from "@colloquy/runtime-node/ai-sdk";
import type { WireTarget } from "@colloquy/runtime-test/laws";
import type { StrictFamily } from "@colloquy/runtime-test/server";
import type { Template } from "@colloquy/interchange/templates";
import * as Either from "fp-ts/lib/Either.js";

interface ChatFamily {
  readonly family: StrictFamily;
  /** The dialect, for servers whose address does not imply it. */
  readonly dialect?: string;
  readonly model?: string;
}

const chatFamilies: readonly ChatFamily[] = [
  { family: "openai-chat" },
  { family: "anthropic" },
  { family: "gemini" },
  { family: "mistral" },
  { family: "deepseek" },
  { family: "deepseek", model: "deepseek-chat" },
  { family: "deepseek", model: "deepseek-v4-flash" },
  { family: "groq" },
  { family: "llama.cpp", dialect: "llama.cpp" },
  { family: "ollama", dialect: "ollama" },
  { family: "vllm", dialect: "vllm" },
  { family: "kimi" },
  { family: "openrouter" },
  { family: "gemini", model: "gemini-2.5-flash" },
  { family: "openrouter", model: "google/gemini-2.5-pro" },
  { family: "openrouter", model: "google/gemini-3-pro-preview" },
  { family: "openrouter", model: "openai/gpt-5" },
  { family: "openrouter", model: "deepseek/deepseek-v3.2" },
  { family: "openrouter", model: "deepseek/deepseek-v4-pro" },
  { family: "openrouter", model: "moonshotai/kimi-k2.6" },
  { family: "openrouter", model: "mistralai/mistral-large" },
  { family: "openrouter", model: "qwen/qwen3" },
];

const plainTemplate: Template = {
  name: "plain",
  version: 1,
  options: {},
  stop: [],
  opening: [],
  render: (messages) => Either.right(messages.map(({ role, parts }) => `${role}: ${contentText(parts)}`).join("\n")),
};

/** Every handler of the runtime, with the servers of each family that it reaches. */
export const wireTargets: readonly WireTarget[] = [
  ...chatFamilies.map(({ family, dialect, model }): WireTarget => ({
    name: `openaiChat at ${family}${model === undefined ? "" : ` (${model})`}`,
    family,
    ...(model === undefined ? {} : { model }),
    handler: (server) => openaiChat({ ...server, ...(dialect === undefined ? {} : { dialect }) }),
  })),
  { name: "openaiResponses", family: "openai-responses", handler: (server) => openaiResponses(server) },
  {
    name: "textCompletion",
    family: "text-completions",
    handler: (server) => textCompletion({ ...server, template: plainTemplate }),
  },
  {
    name: "aiSdkModel over chat completions",
    family: "openai-chat",
    handler: ({ model, ...connection }) => aiSdkModel(createOpenAI(connection).chat(model)),
  },
  {
    name: "aiSdkModel over the Responses API",
    family: "openai-responses",
    handler: ({ model, ...connection }) => aiSdkModel(createOpenAI(connection).responses(model)),
  },
  {
    name: "aiSdkModel at Anthropic",
    family: "anthropic-messages",
    handler: ({ model, ...connection }) => aiSdkModel(createAnthropic(connection)(model)),
  },
];
