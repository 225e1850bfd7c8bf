// The AI SDK: the application keeps the messages. The SDK's mock model would keep all its prompts, so the model here is
// a plain object.
import { generateText, isStepCount, type LanguageModel, type ModelMessage, tool } from "ai";
import { z } from "zod";
import { type Script, systemText, toolDescription, toolName, toolResult } from "../kit/script.ts";
import type { OpenSide } from "./side.ts";

export const memory: OpenSide = (script) => {
  const model = modelOf(script);
  const tools = {
    [toolName]: tool({
      description: toolDescription,
      inputSchema: z.object({ query: z.string() }),
      execute: () => toolResult(1),
    }),
  };
  return {
    open: () => {
      const messages: ModelMessage[] = [];
      return async (text) => {
        messages.push({ role: "user", content: text });
        const stopWhen = isStepCount(10);
        const result = await generateText({ model, instructions: systemText, messages, tools, stopWhen });
        messages.push(...result.responseMessages);
        return result.text;
      };
    },
    close: () => {},
  };
};

const usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 50, text: 50, reasoning: 0 },
};

const modelOf = (script: Script): Exclude<LanguageModel, string> => ({
  specificationVersion: "v4",
  provider: "script",
  modelId: "script",
  supportedUrls: {},
  doGenerate: async ({ prompt }) => {
    const system = prompt[0]?.role === "system" ? 1 : 0;
    const reply = script.reply(prompt.length - system, prompt.at(-1)?.role === "tool");
    return reply.type === "answer"
      ? {
          content: [{ type: "text", text: reply.text }],
          finishReason: { unified: "stop", raw: "stop" },
          usage,
          warnings: [],
        }
      : {
          content: [{ type: "tool-call", toolCallId: reply.id, toolName, input: reply.arguments }],
          finishReason: { unified: "tool-calls", raw: "tool_calls" },
          usage,
          warnings: [],
        };
  },
  doStream: () => {
    throw new Error("nothing here streams");
  },
});
