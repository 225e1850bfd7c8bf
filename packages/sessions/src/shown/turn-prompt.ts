import { conversationMachine, type Message, promptOf } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import type { Policy } from "@colloquy/machine/policies";
import { type Memory, memoryAt, memoryOf } from "../program/memory.ts";
import type { Shown } from "./shown-in.ts";

/** What the program of a turn was called with. Frozen. */
export interface TurnPrompt {
  /** The whole prompt; its last message has the inputs. */
  readonly messages: readonly Message[];
  readonly memory: Memory;
}

/** The prompt of a call; null where nothing was called. */
export const promptShown = (shown: Shown): TurnPrompt | null =>
  shown.type === "added" ? null : frozenCopy({ messages: shown.messages, memory: memoryAt(shown.messages) });

/**
 * The memory that a turn was answered from; none where it ended before its program was called. Of one that was added by
 * hand it is what a program would have seen then, by the policy that the session has now.
 */
export const memoryShown = (shown: Shown | undefined, policy: Policy, most: number): Memory => {
  if (shown === undefined) return memoryOf([]);
  if (shown.type === "called") return memoryAt(shown.messages);
  return memoryOf(promptOf(conversationMachine({ policy, interrupted: "omit" }), shown.to).messages, most);
};
