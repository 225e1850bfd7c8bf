// The machine in a hand-written loop, and the host, both as their documentation shows them.
import { createHost, type Store } from "@colloquy/host";
import { type ConversationMachine, type Event, start, transition } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { memoryStore, randomIds, systemClock } from "@colloquy/runtime-node";
import { fileStore } from "../kit/hosts.ts";
import { type Script, systemText, toolResult } from "../kit/script.ts";
import { instantModel, lookup, lookupMachine, outcomeOf } from "../kit/work.ts";
import { type OpenSide, schema, type Side, turnsShown } from "./side.ts";

export const memory: OpenSide = (script) => hostOn(script, memoryStore());

export const window: OpenSide = (script) =>
  hostOn(script, memoryStore(), lookupMachine({ policy: lastTurns(turnsShown) }));

export const sqlite: OpenSide = (script, path) => hostOn(script, fileStore(path));

export const postgres: OpenSide = async (script, url) => {
  const { postgresStore } = await import("@colloquy/runtime-node/postgres");
  return hostOn(script, postgresStore({ connectionString: url, schema }));
};

const hostOn = (script: Script, store: Store, machine: ConversationMachine = lookupMachine()): Side => {
  const llm = instantModel(script);
  const thread = { system: systemText };
  const host = createHost({ machine, store, llm, tools: [lookup], thread, clock: systemClock, ids: randomIds });
  return {
    open: (threadId) => {
      const opened = host.thread(threadId);
      return async (text) => (await opened.ask(text)).text;
    },
    close: async () => {
      await host.close();
      await store.close();
    },
  };
};

/** No store: the journal is an array. */
export const machine: OpenSide = (script) => {
  const declared = lookupMachine();
  return {
    open: (threadId) => {
      const begun = start(declared, { threadId, at: Date.now(), system: systemText });
      const journal: unknown[] = [begun.entry];
      let { state } = begun;
      let asks = 0;
      return async (text) => {
        let answer = "";
        const events: Event[] = [{ type: "ask.received", at: Date.now(), askId: `ask-${++asks}`, input: text }];
        for (let event = events.shift(); event !== undefined; event = events.shift()) {
          const step = transition(declared, state, event);
          if (!step.handled) throw new Error(step.refusal.reason);
          journal.push(step.entry);
          state = step.state;
          for (const effect of step.effects) {
            const at = Date.now();
            if (effect.type === "callLlm") {
              const outcome = await outcomeOf(script, effect.messages);
              answer = typeof outcome.reply.content === "string" ? outcome.reply.content : "";
              events.push({ ...outcome, type: "llm.completed", at, effectId: effect.id });
            } else if (effect.type === "callTool") {
              JSON.parse(effect.arguments);
              events.push({ type: "tool.completed", at, effectId: effect.id, content: toolResult(1) });
            }
          }
        }
        return answer;
      };
    },
    close: () => {},
  };
};
