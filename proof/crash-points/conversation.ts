// The conversation that is crashed at every point. Everything in it follows from turn, step and attempt, so that two
// runs differ only by what crashing did to them.
import type { LlmHandler, LlmOutcome, OutputOptions, Tool } from "@colloquy/host";
import { type CallLlm, conversationMachine, type ConversationMachine, type ToolDeclaration } from "@colloquy/machine";
import { compactTurns } from "@colloquy/machine/policies";

import { type Script, scriptedOutcome, scriptedTools } from "../kit/scripted-conversation.ts";
import { type Fuse, never } from "./fuse.ts";
import type { Pace } from "./pace.ts";

export const threadId = "crashed";

/**
 * The asks of the conversation. Those of one line come at the same time, so that all but the first wait. The id of an
 * ask is its text.
 */
export const lines: readonly (readonly string[])[] = [["order"], ["chat"], ["publish"], ["report", "farewell"]];

const script: Script = [
  [["lookup", "notify", "charge", "ship"], []],
  [[]],
  [["publish", "lookup"], []],
  [["charge"], []],
  [[]],
];

/** The tools, one for each rule of recovery, and one that has to be approved. */
const declared = {
  lookup: { recovery: "rerun" },
  notify: { recovery: "interrupted" },
  charge: { recovery: "once" },
  ship: { recovery: "ask" },
  publish: { recovery: "once", approval: "always", version: "2" },
} as const;

/** How long each takes in milliseconds of virtual time: so that those of one round answer in one order. */
const takes: Readonly<Record<string, number>> = { lookup: 10, notify: 20, charge: 30, ship: 40, publish: 15 };

/** The model as a process calls it that may die before or after that. A summary takes longer than a call waits for at once. */
export const modelIn =
  (pace: Pace, fuse: Fuse): LlmHandler =>
  async (call) => {
    const what = call.purpose === "summary" ? "summary" : "model";
    if (!fuse.passes("before", what)) return never();
    await pace.sleep(call.purpose === "summary" ? 60 : 5);
    return fuse.passes("after", what) ? outcomeOf(call) : never();
  };

/** The last ask wants an output: the ids of asks, and the output that each wants. */
export const outputs: { readonly [askId: string]: OutputOptions | undefined } = {
  farewell: { schema: { jsonSchema: { type: "object" } }, name: "farewell", mode: "prompted" },
};

const outcomeOf = (call: CallLlm): LlmOutcome =>
  call.output === undefined
    ? scriptedOutcome(script, 2, call)
    : { type: "completed", reply: { content: '{"farewell":"done"}' }, finishReason: "stop" };

/** The tools as a process runs them that may die before or after that; `ran` is called for each run. */
export const toolsIn = (pace: Pace, fuse: Fuse, ran: (name: string, key: string) => void): readonly Tool[] =>
  scriptedTools(declared, async (name, { idempotencyKey }) => {
    if (!fuse.passes("before", `tool ${name}`)) return never();
    ran(name, idempotencyKey);
    await pace.sleep(takes[name] ?? 0);
    return fuse.passes("after", `tool ${name}`) ? `${name} done` : never();
  });

/** The declarations of the tools. */
export const declarations: readonly ToolDeclaration[] = scriptedTools(declared, never).map(
  ({ declaration }) => declaration,
);

export const machine: ConversationMachine = conversationMachine({
  tools: declarations,
  retry: { baseDelayMs: 20 },
  overlap: { type: "queue", max: 4 },
  limits: { deadlineMs: 600_000 },
  // So little that some turns are summarised when they have ended, and some calls wait for a summary.
  budget: { tokens: 220, reserve: 20 },
  policy: compactTurns({ keepTurns: 1, at: 0.8, maxTokens: 40, requestTokens: 4_000, instruction: "Sum it up." }),
});
