import { type ConversationMachine, conversationMachine, type MachineOptions } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { weatherDeclarations } from "./tools.ts";

/** The options of the weather machine. */
export const weatherOptions: Omit<MachineOptions, "tools"> = {
  // The thread never ends; its last turns show what a question is about.
  policy: lastTurns(30),
  limits: { steps: 8, toolCalls: 24 },
  // A question waits for a turn that a crash left open.
  overlap: { type: "queue", max: 1 },
  idleTimeoutMs: 120_000,
};

/** Returns the weather machine. The given options replace its own. */
export const weatherMachine = (options: MachineOptions = {}): ConversationMachine =>
  conversationMachine({ tools: weatherDeclarations, ...weatherOptions, ...options });

export const weatherSystem =
  "You are a weather agent. Your weather is made up: you are a demonstration, and say so if somebody relies on it. " +
  "Answer questions about the weather briefly, from what your tools say; they also say which weekday and date a day is. " +
  "A question that names no city or day is about those that were last spoken of; if none was, ask which city is meant.";
