import type { ConversationMachine } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";

import type { Fact } from "../story/facts.ts";
import { type Asked, machineOf } from "../story/script.ts";

export const threadId = "shared";

export const machine: ConversationMachine = machineOf({ tools: [], policy: lastTurns(1) });

/** A report of a process, one per line. */
export type Report =
  | Fact
  /** An ask was rejected for a passing reason, and is repeated. */
  | { readonly type: "again"; readonly because: string }
  /** All of its asks are answered. The process stays, for the others. */
  | { readonly type: "over" };

export const asksOf = (writer: number, asks: number): readonly Asked[] =>
  Array.from({ length: asks }, (_, ask) => ({
    askId: `writer-${writer}-ask-${ask + 1}`,
    input: `plain writer-${writer}-ask-${ask + 1}`,
  }));
