// The conversation that is crashed: what is asked, what the model replies, which tools there are. Everything in it
// follows from turn, step and attempt, so that two runs differ only by what crashing did to them.
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
export const answerOf = (turn: number): string => `answer ${turn}, whole and unbroken`;

/** What the model makes of a call. The first attempt of one call is turned away. */
export const outcomeOf = ({ turn, step, attempt }: CallLlm): LlmOutcome => {
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

const neverRun = (): Promise<string> => Promise.reject(new Error("only the host's tools run"));
