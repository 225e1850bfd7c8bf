// The conversation of all crash proofs. Its model and tools answer only by the question, so that two runs differ only
// by a crash's effects.
import { declarationsOf, type LlmOutcome, type OutputOptions, tool, type Tool, type ToolCall } from "@colloquy/host";
import type { ToolDefinition } from "@colloquy/host";
import {
  type CallLlm,
  conversationMachine,
  type ConversationMachine,
  type Json,
  type JsonObject,
  type MachineOptions,
  textOf,
  type ToolDeclaration,
} from "@colloquy/machine";
import { compactTurns } from "@colloquy/machine/policies";

/** An ask. The first word of its input selects the tools that the model calls. */
export interface Asked {
  readonly askId: string;
  readonly input: string;
}

/** The concurrent tool calls of each step, by the kind of the ask; a step without calls ends the turn. */
const steps: Readonly<Record<string, readonly (readonly string[])[]>> = {
  lookup: [["lookup"]],
  notify: [["notify"]],
  charge: [["charge"]],
  refund: [["refund"]],
  deny: [["refund"]],
  two: [["lookup", "notify"]],
  order: [["lookup", "notify", "charge", "ship"]],
  publish: [["refund", "lookup"]],
  reorder: [["charge"], ["notify", "charge"]],
};

type Rule = Pick<ToolDefinition<{ readonly jsonSchema: JsonObject }>, "recovery" | "approval" | "version">;

/** One tool for each recovery rule, and one that needs approval. */
const rules = {
  lookup: { recovery: "rerun" },
  notify: {},
  charge: { recovery: "once" },
  ship: { recovery: "ask" },
  refund: { recovery: "once", approval: "always", version: "2" },
} as const satisfies Readonly<Record<string, Rule>>;

export const runNames: readonly string[] = ["model", ...Object.keys(rules)];

/** Makes the tools, whose functions call `run`. `overrule` replaces some declarations. */
export const toolsOf = (
  run: (name: string, call: ToolCall) => Promise<string>,
  overrule: Readonly<Record<string, Rule>> = {},
): readonly Tool[] =>
  Object.entries<Rule>({ ...rules, ...overrule }).map(([name, rule]) =>
    tool({
      name,
      description: `Does what "${name}" says.`,
      input: { jsonSchema: { type: "object", properties: { turn: { type: "integer" } } } },
      ...rule,
      run: (_, call) => run(name, call),
    }),
  );

export const declarations: readonly ToolDeclaration[] = declarationsOf(
  toolsOf(() => Promise.reject(new Error("nothing runs here"))),
);

/** Returns the input of a tool call from its key, since the model passes the turn. */
export const inputOf = (key: string): Json => ({ turn: Number(/\/(\d+)\.[^/]*$/u.exec(key)?.[1] ?? 0) });

export const resultOf = (name: string): string => `${name} done`;

/** Makes a machine for conversations of any length. */
export const machineOf = (options: MachineOptions = {}): ConversationMachine =>
  conversationMachine({
    tools: declarations,
    overlap: { type: "queue", max: 100_000 },
    retry: { attempts: 3, baseDelayMs: 20 },
    ...options,
  });

/** Returns the answer to a question, which differs from all other answers. */
export const answerTo = (question: string): string =>
  question.startsWith("farewell")
    ? `{"farewell":"${question}"}`
    : `the answer to <${question}>, ${"whole and unbroken, ".repeat(8)}to its end`;

const questionsOf = ({ turn, messages }: CallLlm): readonly string[] =>
  messages.filter(({ role, id }) => role === "user" && id.startsWith(`${turn}.`)).map((message) => textOf(message));

/** The parts of a call that determine its reply. */
export interface Called extends Pick<CallLlm, "purpose" | "turn" | "step" | "attempt"> {
  readonly questions: readonly string[];
}

export const calledBy = (call: CallLlm): Called => {
  const { purpose, turn, step, attempt } = call;
  return { purpose, turn, step, attempt, questions: questionsOf(call) };
};

export const outcomeOf = ({ purpose, turn, step, attempt, questions }: Called): LlmOutcome => {
  const usage = { inputTokens: 10 * turn, outputTokens: step };
  const completed = { type: "completed", finishReason: "stop", usage } as const;
  if (purpose === "summary") return { ...completed, reply: { content: `summary of turns before ${turn}` } };
  const [kind = ""] = questions[0]?.split(" ") ?? [];
  if (kind === "retry" && attempt === 1)
    return { type: "failed", failure: { kind: "overloaded", message: "busy", retryable: true } };
  const names = steps[kind]?.[step - 1] ?? [];
  // The provider's ids repeat, as real ones do.
  const toolCalls = names.map((name, index) => ({ id: `call_${index}`, name, arguments: `{"turn":${turn}}` }));
  return names.length === 0
    ? { ...completed, reply: { content: questions.map(answerTo).join(" and ") } }
    : { ...completed, finishReason: "tool_calls", reply: { toolCalls } };
};

/** The conversation that contains everything. Asks of one line arrive together, so that all but the first wait. */
export const story = {
  threadId: "crashed",
  lines: [["order 1"], ["retry 2"], ["publish 3"], ["reorder 4", "farewell 5"]],
  /** The milliseconds of each tool, which fix the order of answers within a round. */
  takes: { lookup: 10, notify: 20, charge: 30, ship: 40, refund: 15 },
  outputs: { "farewell 5": { schema: { jsonSchema: { type: "object" } }, name: "farewell", mode: "prompted" } },
} as const satisfies Story;

interface Story {
  readonly threadId: string;
  readonly lines: readonly (readonly string[])[];
  readonly takes: Readonly<Record<keyof typeof rules, number>>;
  readonly outputs: { readonly [askId: string]: OutputOptions | undefined };
}

export const storyMachine = (tools: readonly ToolDeclaration[] = declarations): ConversationMachine =>
  machineOf({
    tools,
    overlap: { type: "queue", max: 4 },
    limits: { deadlineMs: 600_000 },
    // So small that some turns are summarised after their end, and some calls wait for a summary.
    budget: { tokens: 220, reserve: 20 },
    policy: compactTurns({ keepTurns: 2, at: 0.8, maxTokens: 40, requestTokens: 4_000, instruction: "Sum it up." }),
  });

export const asks: readonly Asked[] = story.lines.flat().map((askId) => ({ askId, input: askId }));
