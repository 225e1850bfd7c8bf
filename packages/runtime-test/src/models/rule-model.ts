import type { LlmHandler } from "@colloquy/host";
import { type Counter, countPrompt, estimateCounter } from "@colloquy/machine/policies";
import type { Message, ReportedUsage } from "@colloquy/machine";
import { perform } from "./perform.ts";
import { type PromptView, viewPrompt } from "./prompt-view.ts";
import { type Piece, reply, type ScriptLine } from "./script.ts";

/** A rule of a rule-based model for the prompts that it matches. */
export interface Rule {
  /** For error messages. */
  readonly name: string;
  /** Returns whether the rule matches. Must be pure: the view is its only input. */
  readonly when: (prompt: PromptView) => boolean;
  /** Returns the answer: a text, or a line made by `reply`, `toolCalls`, … (its `expects` is ignored). Must be pure. */
  readonly answer: (prompt: PromptView) => string | ScriptLine;
}

export interface RuleModelOptions {
  /** Counts the reported usage, if a line sets none. Default `estimateCounter`. */
  readonly counter?: Counter;
}

/**
 * Makes a model that answers by the first rule that matches the prompt. It keeps no state between calls, so it knows of
 * a conversation only what the prompt contains. Deterministic: the same messages give the same answer, including ids of
 * tool calls.
 */
export const ruleModel = (rules: readonly Rule[], options: RuleModelOptions = {}): LlmHandler => {
  const { counter = estimateCounter } = options;
  return async (call, context) => {
    const prompt = viewPrompt(call.messages);
    const rule = rules.find(({ when }) => when(prompt));
    if (rule === undefined) throw new Error(noRule(rules, prompt));
    const answer = rule.answer(prompt);
    const line = typeof answer === "string" ? reply(answer) : answer;
    const outcome = await perform(line, call, context, (position) => `call_${prompt.toolCalls.length + position + 1}`);
    return outcome.usage === undefined ? { ...outcome, usage: counted(counter, call.messages, line) } : outcome;
  };
};

const counted = (counter: Counter, messages: readonly Message[], { pieces }: ScriptLine): ReportedUsage => {
  const inputTokens = countPrompt(counter, messages);
  const outputTokens = countPieces(counter, pieces);
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
};

/** Counts joined text once, because a single word may be less than a token. */
const countPieces = (counter: Counter, pieces: readonly Piece[]): number => {
  let text = "";
  let calls = 0;
  for (const piece of pieces) {
    if ("toolCall" in piece) {
      const { name, arguments: input } = piece.toolCall;
      const written = typeof input === "string" ? input : JSON.stringify(input);
      calls += counter.countPart({ type: "toolCall", callId: "", providerCallId: null, name, arguments: written });
    } else {
      text += "text" in piece ? piece.text : "reasoning" in piece ? piece.reasoning : piece.refusal;
    }
  }
  return calls + (text === "" ? 0 : counter.countPart({ type: "text", text }));
};

const noRule = (rules: readonly Rule[], prompt: PromptView): string =>
  `no rule is meant for this prompt of ${prompt.messages.length} messages, whose newest user message is ` +
  `${JSON.stringify(prompt.lastUserText)}. Rules, in order: ${rules.map(({ name }) => name).join(", ") || "none"}. ` +
  'Add a last one that is always meant: { name: "else", when: () => true, answer: () => "…" }.';
