import { conversationMachine, type ConversationMachine } from "@colloquy/machine";
import type { InterruptedTurns } from "@colloquy/machine/policies";
import type { Subject } from "./subjects.ts";

/** Machines of one policy, by the tokens that their prompts have room for. */
export type Machines = (room: number, interrupted: InterruptedTurns) => ConversationMachine;

/** Small budgets come again and again; making a machine takes longer than many prompts. */
export const machinesFor = ({ policy, counter }: Subject): Machines => {
  const kept = new Map<string, ConversationMachine>();
  return (room, interrupted) => {
    const key = `${room} ${interrupted}`;
    const reserve = room % 2 === 0 ? 0 : 64;
    const machine =
      kept.get(key) ??
      conversationMachine({
        policy,
        counter,
        interrupted,
        budget: { tokens: room + reserve, reserve },
        calibrate: false,
        unknownTool: "ask",
      });
    if (room <= largestKept) kept.set(key, machine);
    return machine;
  };
};

/** Tokens. */
const largestKept = 1_000;
