// The script's tool and a model without latency, for a host.
import { declarationsOf, type LlmHandler, type LlmOutcome, tool } from "@colloquy/host";
import { type ConversationMachine, conversationMachine, type Message, type MachineOptions } from "@colloquy/machine";
import { z } from "zod";
import { answerText, Script, toolDescription, toolName, toolResult } from "./script.ts";

export const lookup = tool({
  name: toolName,
  description: toolDescription,
  input: z.object({ query: z.string() }),
  run: () => toolResult(1),
});

export const lookupMachine = (options: MachineOptions = {}): ConversationMachine =>
  conversationMachine({ tools: declarationsOf([lookup]), ...options });

export const instantModel =
  (script: Script = new Script()): LlmHandler =>
  ({ messages }) =>
    outcomeOf(script, messages);

export const outcomeOf = async (
  script: Script,
  messages: readonly Message[],
): Promise<Extract<LlmOutcome, { type: "completed" }>> => {
  const system = messages[0]?.role === "system" ? 1 : 0;
  const reply = script.reply(messages.length - system, messages.at(-1)?.role === "tool");
  const usage = { inputTokens: 100, outputTokens: 50, totalTokens: 150 };
  return reply.type === "answer"
    ? { type: "completed", reply: { content: reply.text }, finishReason: "stop", usage }
    : {
        type: "completed",
        reply: { toolCalls: [{ id: reply.id, name: toolName, arguments: reply.arguments }] },
        finishReason: "tool_calls",
        usage,
      };
};

/** The pieces of a streamed reply: a thousand, each as long as a token. */
export const deltas: readonly string[] = Array.from({ length: 1000 }, (_, index) => ` tok${index % 97}`);

export const streamedText: string = deltas.join("");

/** A model without latency that calls no tool. */
export const instantAnswer: LlmHandler = async () => ({
  type: "completed",
  reply: { content: answerText(1) },
  finishReason: "stop",
  usage: { inputTokens: 100, outputTokens: 50, totalTokens: 150 },
});
