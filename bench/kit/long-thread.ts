// Threads of any length, with turns like agents': a question, often a tool round or two, an answer; texts of all sizes,
// but mostly short. A long thread ends with the turns of a short one, so that a window shows the same of both.
import {
  type ConversationMachine,
  conversationMachine,
  type MessageDraft,
  type SeedDraft,
  start,
  type State,
  transition,
} from "@colloquy/machine";
import { lastTurns, type TokenWindowOptions, tokenWindow } from "@colloquy/machine/policies";

import { type Random, randomOf } from "../../proof/kit/random.ts";

export const budget = { tokens: 32_000, reserve: 0 };

/** Makes a machine that shows the turns that fit. A new one has counted nothing yet. */
export const windowMachine = (options?: TokenWindowOptions): ConversationMachine =>
  conversationMachine({ policy: tokenWindow(options), budget, calibrate: false });

/** Makes a thread of closed turns with at least this many messages, without rendering any prompt. */
export const longThread = (messages: number): State => {
  const machine = conversationMachine({ policy: lastTurns(0) });
  let { state } = start(machine, { threadId: "long", at: 0, system: "You look things up and answer briefly." });
  const lengths = Array.from({ length: cycle }, (_, index) => turnMessages(index).length);
  const turns: number[] = [];
  for (let length = 0; length < messages;) {
    const index = turns.length % cycle;
    turns.push(cycle - 1 - index);
    length += lengths[cycle - 1 - index] ?? 0;
  }
  for (const index of turns.reverse()) {
    const step = transition(machine, state, { type: "turn.added", at: 1, messages: turnMessages(index) });
    if (!step.handled) throw new Error(step.refusal.reason);
    state = step.state;
  }
  return state;
};

/** The number of turns before they repeat: some thousand messages, more than any window here shows. */
const cycle = 400;

const turnMessages = (index: number): readonly SeedDraft[] => {
  const random = randomOf(index);
  const rounds = [0, 1, 1, 2][index % 4] ?? 0;
  const question: MessageDraft = { role: "user", content: text(random, 20, 600) };
  return [
    question,
    ...Array.from({ length: rounds }, (_, round) => toolRound(random, round)).flat(),
    { role: "assistant", content: text(random, 60, 2_400) },
  ];
};

const toolRound = (random: Random, round: number): readonly SeedDraft[] => {
  const ids = round === 0 && random.next() < 0.2 ? ["call_a", "call_b"] : ["call_a"];
  return [
    {
      role: "assistant",
      toolCalls: ids.map((id) => ({ id, name: "lookup", arguments: JSON.stringify({ query: text(random, 10, 200) }) })),
    },
    ...ids.map((id): SeedDraft => ({ role: "tool", toolCallId: id, content: text(random, 40, 8_000) })),
  ];
};

/** Makes a text. Most are short, a few long. */
const text = (random: Random, least: number, most: number): string => {
  const length = Math.round(least * (most / least) ** random.next());
  const from = Math.floor(random.next() * words.length);
  return words.repeat(Math.ceil((from + length) / words.length)).slice(from, from + length);
};

const words =
  "the quick brown fox jumps over the lazy dog and runs far away from here while the sun is setting behind hills ";
