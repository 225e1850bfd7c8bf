// The content of the conversations: all of it follows from the asks, so that a repeated call gets the same.
import { declarationsOf, type LlmOutcome, type Tool, type ToolCall } from "@colloquy/host";
import { conversationMachine, type ConversationMachine } from "@colloquy/machine";

import { scriptedTools } from "../kit/scripted-conversation.ts";

/** The kinds of asks. The model's behaviour follows from the first word. */
export const kinds = ["plain", "plain", "lookup", "notify", "charge", "refund", "retry", "two"] as const;

/** One tool for each way to recover that needs nobody's answer, and one that has to be approved. */
export const toolsOf = (run: (name: string, call: ToolCall) => Promise<string>): readonly Tool[] =>
  scriptedTools(
    {
      lookup: { recovery: "rerun" },
      notify: {},
      charge: { recovery: "once" },
      refund: { recovery: "once", approval: "always" },
    },
    run,
  );

/** The tools whose start is journalled before they run. */
export const onceOnly: readonly string[] = ["charge", "refund"];

/** The tools that a kind of ask calls, all at once. */
const called: Readonly<Record<string, readonly string[]>> = {
  lookup: ["lookup"],
  notify: ["notify"],
  charge: ["charge"],
  refund: ["refund"],
  two: ["lookup", "notify"],
};

export const machineOf = (tools: readonly Tool[]): ConversationMachine =>
  conversationMachine({
    tools: declarationsOf(tools),
    overlap: { type: "queue", max: 10_000 },
    retry: { attempts: 3, baseDelayMs: 5 },
  });

/** Returns the input of an ask. */
export const inputOf = (kind: string, askId: string): string => `${kind} ${askId}`;

/** Returns the answer to a question, with words that no other answer has. */
export const answerTo = (question: string): string => `the answer to <${question}>`;

/** Returns the model's reply in the given call of a turn with these questions. */
export const outcomeOf = (questions: readonly string[], step: number, attempt: number): LlmOutcome => {
  const [kind = ""] = questions[0]?.split(" ") ?? [];
  if (kind === "retry" && attempt === 1)
    return { type: "failed", failure: { kind: "overloaded", message: "busy", retryable: true } };
  const names = step === 1 ? (called[kind] ?? []) : [];
  // The provider's ids come again and again, as they do in the wild.
  const toolCalls = names.map((name, index) => ({ id: `call_${index}`, name, arguments: '{"turn":1}' }));
  return {
    type: "completed",
    reply: names.length === 0 ? { content: questions.map(answerTo).join(" and ") } : { toolCalls },
    finishReason: names.length === 0 ? "stop" : "tool_calls",
    usage: { inputTokens: questions.length, outputTokens: step },
  };
};

/** Returns the result of a tool's function. */
export const resultOf = (name: string, key: string): string => `${name} of ${key} done`;
