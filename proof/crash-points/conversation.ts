// The conversation that is crashed at every point. Everything in it follows from turn, step and attempt, so that two
// runs differ only by what crashing did to them.
import { type LlmHandler, type LlmOutcome, tool, type Tool, type ToolCall, type ToolDefinition } from "@colloquy/host";
import {
  type CallLlm,
  conversationMachine,
  type ConversationMachine,
  type JsonObject,
  type ToolDeclaration,
} from "@colloquy/machine";
import { compactTurns } from "@colloquy/machine/policies";

import { type Fuse, never } from "./fuse.ts";
import type { Pace } from "./pace.ts";

export const threadId = "crashed";

/** What is asked. The asks of one line come at the same time, so that all but the first wait. The id of an ask is its text. */
export const lines: readonly (readonly string[])[] = [["order"], ["chat"], ["publish"], ["report", "farewell"]];

/** The tools that each step of each turn calls; a step without calls ends the turn. */
const script: readonly (readonly (readonly string[])[])[] = [
  [["lookup", "notify", "charge", "ship"], []],
  [[]],
  [["publish", "lookup"], []],
  [["charge"], []],
  [[]],
];

/** The tools, one for each rule of recovery, and one that has to be approved. */
const declared: Readonly<
  Record<string, Pick<ToolDefinition<{ readonly jsonSchema: JsonObject }>, "recovery" | "approval" | "version">>
> = {
  lookup: { recovery: "rerun" },
  notify: { recovery: "interrupted" },
  charge: { recovery: "once" },
  ship: { recovery: "ask" },
  publish: { recovery: "once", approval: "always", version: "2" },
};

/** How long each takes in milliseconds of virtual time: so that those of one round answer in one order. */
const takes: Readonly<Record<string, number>> = { lookup: 10, notify: 20, charge: 30, ship: 40, publish: 15 };

const answerOf = (turn: number): string => `answer ${turn}, ${"whole and unbroken, ".repeat(8)}to its end`;

/** What the model makes of a call. The first attempt of one call is turned away. */
const outcomeOf = ({ id, purpose, turn, step, attempt }: CallLlm): LlmOutcome => {
  if (purpose === "summary") return { type: "completed", reply: { content: `summary of ${id}` }, finishReason: "stop" };
  if (turn === 2 && attempt === 1)
    return { type: "failed", failure: { kind: "overloaded", message: "try again", retryable: true } };
  const names = script[turn - 1]?.[step - 1] ?? [];
  const toolCalls = names.map((name, index) => ({ id: `call_${index}`, name, arguments: `{"turn":${turn}}` }));
  return {
    type: "completed",
    reply: names.length === 0 ? { content: answerOf(turn) } : { toolCalls },
    finishReason: names.length === 0 ? "stop" : "tool_calls",
    usage: { inputTokens: 10 * turn, outputTokens: step },
  };
};

/** The model as a process calls it that may die before or after that. A summary takes longer than a call waits for at once. */
export const modelIn =
  (pace: Pace, fuse: Fuse): LlmHandler =>
  async (call) => {
    const what = call.purpose === "summary" ? "summary" : "model";
    if (!fuse.passes("before", what)) return never();
    await pace.sleep(call.purpose === "summary" ? 60 : 5);
    return fuse.passes("after", what) ? outcomeOf(call) : never();
  };

/** The tools as a process runs them that may die before or after that; `ran` is told of each run. */
export const toolsIn = (pace: Pace, fuse: Fuse, ran: (name: string, key: string) => void): readonly Tool[] =>
  toolsOf(async (name, { idempotencyKey }) => {
    if (!fuse.passes("before", `tool ${name}`)) return never();
    ran(name, idempotencyKey);
    await pace.sleep(takes[name] ?? 0);
    return fuse.passes("after", `tool ${name}`) ? `${name} done` : never();
  });

const toolsOf = (run: (name: string, call: ToolCall) => Promise<string>): readonly Tool[] =>
  Object.entries(declared).map(([name, declaration]) =>
    tool({
      name,
      description: `Does what "${name}" says.`,
      input: { jsonSchema: { type: "object", properties: { turn: { type: "integer" } } } },
      ...declaration,
      run: (_, call) => run(name, call),
    }),
  );

/** The declarations of the tools. */
export const declarations: readonly ToolDeclaration[] = toolsOf(never).map(({ declaration }) => declaration);

export const machine: ConversationMachine = conversationMachine({
  tools: declarations,
  retry: { baseDelayMs: 20 },
  overlap: { type: "queue", max: 4 },
  limits: { deadlineMs: 600_000 },
  // So little that some turns are summarised when they have ended, and some calls wait for a summary.
  budget: { tokens: 220, reserve: 20 },
  policy: compactTurns({ keepTurns: 1, at: 0.8, maxTokens: 40, requestTokens: 4_000, instruction: "Sum it up." }),
});
