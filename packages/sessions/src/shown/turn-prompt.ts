import { conversationMachine, type Message, promptOf } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import type { Policy } from "@colloquy/machine/policies";
import { type Memory, memoryAt, memoryOf } from "../program/memory.ts";
import type { Shown } from "./shown-in.ts";

/** The prompt that the program of a turn was called with. Frozen. */
export interface TurnPrompt {
  /** The whole prompt; its last message has the inputs. */
  readonly messages: readonly Message[];
  readonly memory: Memory;
}

/**
 * Returns the prompt of a turn. No program was called for a turn that was added by hand: its prompt is the one that a
 * program would have been called with then, by the policy that the session has now.
 *
 * @param most exchanges to show, the newest.
 */
export const promptShown = (shown: Shown, policy: Policy, most: number): TurnPrompt => {
  if (shown.type === "called") return frozenCopy({ messages: shown.messages, memory: memoryAt(shown.messages) });
  const { messages } = promptOf(conversationMachine({ policy, interrupted: "omit" }), shown.to);
  const asked = shown.messages.filter(({ role }) => role === "user").slice(0, 1);
  return frozenCopy({ messages: [...messages, ...asked], memory: memoryOf(messages, most) });
};
