// The conversations that an engine and the host in memory hold, and the parts of a process that holds them.
import { setTimeout as pause } from "node:timers/promises";

import type { LlmHandler, Tool } from "@colloquy/host";
import type { ConversationMachine } from "@colloquy/machine";

import type { Fact } from "../story/facts.ts";
import { type Asked, calledBy, machineOf, outcomeOf, resultOf, toolsOf } from "../story/script.ts";

export const kinds = ["plain", "lookup", "notify", "charge", "refund", "retry", "two", "deny"] as const;

export const threadOf = (conversation: number): string => `t${conversation}`;

export const asksOf = (conversation: number, turns: number): readonly Asked[] =>
  Array.from({ length: turns }, (_, turn) => {
    const kind = kinds[(turn + conversation) % kinds.length];
    return { askId: `c${conversation}-${turn}`, input: `${kind} ${conversation * 100 + turn}` };
  });

export interface Script {
  readonly machine: ConversationMachine;
  readonly tools: readonly Tool[];
  readonly llm: LlmHandler;
}

interface Pace {
  /** Called as each tool and each model call starts. */
  readonly note: (fact: Fact & { readonly type: "performed" }) => void;
  /** The milliseconds that each takes at most, during which kills happen. */
  readonly slackMs: number;
}

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
