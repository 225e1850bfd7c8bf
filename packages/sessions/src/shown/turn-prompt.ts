import { conversationMachine, type Message, promptOf } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import type { Policy } from "@colloquy/machine/policies";
import { type Memory, memoryAt, memoryOf } from "../program/memory.ts";
import type { Shown } from "./shown-in.ts";

/** The prompt of the program's call in a turn. Frozen. */
export interface TurnPrompt {
  /** The whole prompt; its last message has the inputs. */
  readonly messages: readonly Message[];
  readonly memory: Memory;
}

/**
 * Returns the prompt of a turn. A turn that was added by hand had no call: its prompt is that of a call at that point,
 * under the session's present policy.
 *
 * @param most the largest number of exchanges to show; the newest are shown.
 */
export const promptShown = (shown: Shown, policy: Policy, most: number): TurnPrompt => {
  if (shown.type === "called") return frozenCopy({ messages: shown.messages, memory: memoryAt(shown.messages) });
  const { messages } = promptOf(conversationMachine({ policy, interrupted: "omit" }), shown.to);
  const asked = shown.messages.filter(({ role }) => role === "user").slice(0, 1);
  return frozenCopy({ messages: [...messages, ...asked], memory: memoryOf(messages, most) });
};
