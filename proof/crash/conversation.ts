// The conversation that is crashed: what is asked, what the model replies, which tools there are. Everything in it
// follows from turn, step and attempt, so that two runs differ only by what crashing did to them.
import { setTimeout as delay } from "node:timers/promises";

import {
  createHost,
  type Host,
  type HostOptions,
  type LlmOutcome,
  tool,
  type Tool,
  type ToolCall,
} from "@colloquy/host";
import { type CallLlm, conversationMachine, type ConversationMachine, type ToolRecovery } from "@colloquy/machine";
import { compactTurns } from "@colloquy/machine/policies";

export const threadId = "crashed";

/** What is asked, one turn each. The id of an ask is its text. */
export const asks: readonly string[] = ["order", "report", "chat", "reorder", "farewell"];

/** The tools, one for each rule of recovery. */
export const recoveries: Readonly<Record<string, ToolRecovery>> = {
  lookup: "rerun",
  notify: "interrupted",
  charge: "once",
};

/** The tools that each step of each turn calls; a step without calls ends the turn. */
const script: readonly (readonly (readonly string[])[])[] = [
  [["lookup", "charge"], ["notify"], []],
  [["charge", "lookup", "notify"], []],
  [[]],
  [["lookup"], ["charge", "charge"], []],
  [["notify", "notify", "lookup"], []],
];

/** The text that ends a turn. */
export const answerOf = (turn: number): string => `answer ${turn}, ${"whole and unbroken, ".repeat(8)}to its end`;

/** What the model makes of a call. The first attempt of one call is turned away. */
export const outcomeOf = ({ id, purpose, turn, step, attempt }: CallLlm): LlmOutcome => {
  if (purpose === "summary") {
    const usage = { inputTokens: 7, outputTokens: 3 };
    return { type: "completed", reply: { content: `summary of ${id}` }, finishReason: "stop", usage };
  }
  if (turn === 3 && attempt === 1) {
    return { type: "failed", failure: { kind: "overloaded", message: "try again", retryable: true } };
  }
  const calls = script[turn - 1]?.[step - 1] ?? [];
  // The provider's ids come again and again, as they do in the wild.
  const toolCalls = calls.map((name, index) => ({ id: `call_${index}`, name, arguments: `{"turn":${turn}}` }));
  return {
    type: "completed",
    reply: calls.length === 0 ? { content: answerOf(turn) } : { toolCalls },
    finishReason: calls.length === 0 ? "stop" : "tool_calls",
    usage: { inputTokens: 10 * turn, outputTokens: step },
  };
};

const machineOf = (tools: readonly Tool[]): ConversationMachine =>
  conversationMachine({
    tools: tools.map(({ declaration }) => declaration),
    retry: { baseDelayMs: 2 },
    limits: { deadlineMs: 600_000 },
    // So little that some turns are summarised when they have ended, and some calls wait for a summary.
    budget: { tokens: 220, reserve: 20 },
    policy: compactTurns({ keepTurns: 2, at: 0.9, maxTokens: 40, requestTokens: 4_000, instruction: "Sum it up." }),
  });

/** The tools, whose functions call `run`. `overrule` lets the host follow another rule than the machine declares. */
export const toolsOf = (
  run: (name: string, call: ToolCall) => Promise<string>,
  overrule: Readonly<Record<string, ToolRecovery>> = {},
): readonly Tool[] =>
  Object.entries({ ...recoveries, ...overrule }).map(([name, recovery]) =>
    tool({
      name,
      description: `Does what "${name}" says.`,
      input: { jsonSchema: { type: "object", properties: { turn: { type: "integer" } } } },
      recovery,
      run: (_, call) => run(name, call),
    }),
  );

/** A host for the conversation. */
export const hostOf = (parts: Omit<HostOptions, "machine" | "tools"> & { readonly tools: readonly Tool[] }): Host =>
  createHost({ ...parts, machine: machineOf(toolsOf(neverRun)) });

/** Resolves when no summary is being written. Whoever goes on at once may be faster or slower than it, and is told the same. */
export const summariesWritten = async (host: Host): Promise<void> => {
  const thread = host.thread(threadId);
  while ((await thread.state())?.context.summarising !== null) await delay(1);
};

const neverRun = (): Promise<string> => Promise.reject(new Error("only the host's tools run"));
