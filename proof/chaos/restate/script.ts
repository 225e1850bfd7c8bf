// The conversations that are held on an engine and on the host in memory, and the parts of a process that holds them.
import { setTimeout as pause } from "node:timers/promises";

import type { LlmHandler, Tool } from "@colloquy/host";
import type { ConversationMachine } from "@colloquy/machine";

import type { Fact } from "../story/facts.ts";
import { type Asked, calledBy, machineOf, outcomeOf, resultOf, toolsOf } from "../story/script.ts";

/** The kinds of asks. */
export const kinds = ["plain", "lookup", "notify", "charge", "refund", "retry", "two"] as const;

/** The id of the thread of a conversation. */
export const threadOf = (conversation: number): string => `t${conversation}`;

/** The asks of a conversation: the kinds in turn, in each conversation from another one on. */
export const asksOf = (conversation: number, turns: number): readonly Asked[] =>
  Array.from({ length: turns }, (_, turn) => {
    const kind = kinds[(turn + conversation) % kinds.length];
    return { askId: `c${conversation}-${turn}`, input: `${kind} ${conversation * 100 + turn}` };
  });

/** The parts of a process that holds conversations. */
export interface Script {
  readonly machine: ConversationMachine;
  readonly tools: readonly Tool[];
  readonly llm: LlmHandler;
}

interface Pace {
  /** Called as each tool and each model call begins. */
  readonly note: (fact: Fact & { readonly type: "performed" }) => void;
  /** How long each takes at most, in milliseconds: somewhere in there a kill comes. */
  readonly slackMs: number;
}

/** The parts of a process. */
export const scriptOf = ({ note, slackMs }: Pace): Script => {
  const work = async (what: string, id: string): Promise<void> => {
    note({ type: "performed", what, id });
    if (slackMs > 0) await pause(Math.random() * slackMs);
  };
  return {
    tools: toolsOf(async (name, { idempotencyKey }) => {
      await work(name, idempotencyKey);
      return resultOf(name);
    }),
    machine: machineOf(),
    llm: async (call, { onDelta }) => {
      await work("model", call.id);
      const outcome = outcomeOf(calledBy(call));
      if (outcome.type === "completed" && typeof outcome.reply.content === "string")
        onDelta({ type: "text", text: outcome.reply.content });
      return outcome;
    },
  };
};
