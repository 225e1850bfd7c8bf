// The conversation that is crashed: what is asked, what the model replies, which tools there are. Everything in it
// follows from turn, step and attempt, so that two runs differ only by what crashing did to them.
import { setTimeout as delay } from "node:timers/promises";

import {
  createHost,
  declarationsOf,
  type Host,
  type HostOptions,
  type LlmOutcome,
  type Tool,
  type ToolCall,
} from "@colloquy/host";
import { type CallLlm, conversationMachine, type ConversationMachine, type ToolRecovery } from "@colloquy/machine";
import { compactTurns } from "@colloquy/machine/policies";

import { type Script, scriptedOutcome, scriptedTools } from "../kit/scripted-conversation.ts";

export const threadId = "crashed";

/** The asks, one turn each. The id of an ask is its text. */
export const asks: readonly string[] = ["order", "report", "chat", "reorder", "farewell"];

/** The tools, one for each rule of recovery. */
export const recoveries: Readonly<Record<string, ToolRecovery>> = {
  lookup: "rerun",
  notify: "interrupted",
  charge: "once",
};

const script: Script = [
  [["lookup", "charge"], ["notify"], []],
  [["charge", "lookup", "notify"], []],
  [[]],
  [["lookup"], ["charge", "charge"], []],
  [["notify", "notify", "lookup"], []],
];

/** Returns the model's reply to a call. */
export const outcomeOf = (call: CallLlm): LlmOutcome => scriptedOutcome(script, 3, call);

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
): readonly Tool[] => {
  const rules = Object.entries({ ...recoveries, ...overrule }).map(([name, recovery]) => [name, { recovery }] as const);
  return scriptedTools(Object.fromEntries(rules), run);
};

/** A host for the conversation. Tools that are overruled are declared so without a word in its configuration. */
export const hostOf = (parts: Omit<HostOptions, "machine" | "tools"> & { readonly tools: readonly Tool[] }): Host =>
  createHost({ ...parts, machine: declaring(machineOf(toolsOf(neverRun)), parts.tools) });

/** The same machine with other declarations. Its internals are reached past the types: no user could seed this fault. */
const declaring = (machine: ConversationMachine, tools: readonly Tool[]): ConversationMachine => {
  const [internals] = Object.getOwnPropertySymbols(machine);
  if (internals === undefined) throw new Error("a machine has internals under a symbol");
  // Whatever they are: only the declarations differ.
  const { settings, ...rest } = Reflect.get(machine, internals) as { readonly settings: object };
  const value = { ...rest, settings: { ...settings, tools: declarationsOf(tools) } };
  return Object.create(machine, { [internals]: { value } }) as ConversationMachine;
};

const neverRun = (): Promise<string> => Promise.reject(new Error("only the host's tools run"));

/** Resolves when no summary is being written. A process that does not wait may be faster or slower than a summary. */
export const summariesWritten = async (host: Host): Promise<void> => {
  const thread = host.thread(threadId);
  while ((await thread.state())?.context.summarising !== null) await delay(1);
};
