// The conversations that are held on an engine and on the host in memory. All that they say follows from what is
// asked, so that two runs differ only by what a crash did to them.
import { setTimeout as pause } from "node:timers/promises";

import { declarationsOf, type LlmHandler, type LlmOutcome, tool, type Tool, type ToolDefinition } from "@colloquy/host";
import { conversationMachine, type ConversationMachine, type JsonObject, textOf } from "@colloquy/machine";

import type { Ran } from "./ledger.ts";

/** The kinds of asks. The model's behaviour follows from the first word. */
export const kinds = ["plain", "lookup", "notify", "charge", "refund", "retry", "two"] as const;

/** One ask of a conversation. */
export interface Asked {
  readonly askId: string;
  readonly input: string;
}

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
  readonly note: (ran: Ran) => void;
  /** How long each takes at most, in milliseconds: somewhere in there a kill comes. */
  readonly slackMs: number;
}

/** The parts of a process. */
export const scriptOf = ({ note, slackMs }: Pace): Script => {
  const work = async (what: string, id: string): Promise<void> => {
    note({ what, id });
    if (slackMs > 0) await pause(Math.random() * slackMs);
  };
  const tools = Object.entries(rules).map(([name, rule]) =>
    tool({
      name,
      description: `Does what "${name}" says.`,
      input: { jsonSchema: numbered },
      ...rule,
      run: async (input, { idempotencyKey }) => {
        await work(name, idempotencyKey);
        return { done: `${name} ${JSON.stringify(input)}` };
      },
    }),
  );
  return {
    tools,
    machine: conversationMachine({ tools: declarationsOf(tools), retry: { attempts: 3, baseDelayMs: 20 } }),
    llm: async (call, { onDelta }) => {
      await work("model", call.id);
      const outcome = outcomeOf(call);
      if (outcome.type === "completed" && typeof outcome.reply.content === "string")
        onDelta({ type: "text", text: outcome.reply.content });
      return outcome;
    },
  };
};

type Rule = Pick<ToolDefinition<{ readonly jsonSchema: JsonObject }>, "recovery" | "approval">;

/** One tool for each way to recover that needs nobody's answer, and one that has to be approved. */
const rules: Readonly<Record<string, Rule>> = {
  lookup: { recovery: "rerun" },
  notify: {},
  charge: { recovery: "once" },
  refund: { recovery: "once", approval: "always" },
};

/** The names that a ledger has for runs. */
export const runNames: readonly string[] = ["model", ...Object.keys(rules)];

const numbered: JsonObject = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

/** The tools that a kind of ask calls, all at once. */
const called: Readonly<Record<string, readonly string[]>> = {
  lookup: ["lookup"],
  notify: ["notify"],
  charge: ["charge"],
  refund: ["refund"],
  two: ["lookup", "notify"],
};

const outcomeOf = ({ messages, attempt }: Parameters<LlmHandler>[0]): LlmOutcome => {
  const question = messages.findLast(({ role }) => role === "user");
  const asked = question === undefined ? "" : textOf(question);
  const [kind = "", number] = asked.split(" ");
  const usage = { inputTokens: messages.length, outputTokens: 2 };
  if (messages.at(-1) === question) {
    if (kind === "retry" && attempt === 1)
      return { type: "failed", failure: { kind: "overloaded", message: "busy", retryable: true } };
    const names = called[kind] ?? [];
    // The provider's ids come again and again, as they do in the wild.
    const toolCalls = names.map((name, index) => ({ id: `call_${index}`, name, arguments: `{"n":${number}}` }));
    if (toolCalls.length > 0) return { type: "completed", reply: { toolCalls }, finishReason: "tool_calls", usage };
  }
  const content = `answer to ${asked} after ${messages.length} messages`;
  return { type: "completed", reply: { content }, finishReason: "stop", usage };
};
