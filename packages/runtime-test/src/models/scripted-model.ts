import type { LlmHandler } from "@colloquy/host";
import type { CallLlm, Message, ReportedUsage } from "@colloquy/machine";
import { perform, spoken } from "./perform.ts";
import { type PromptView, viewPrompt } from "./prompt-view.ts";
import { type PromptMatcher, type ScriptLine, type Piece, reply } from "./script.ts";
import { type Counter, countPrompt, estimateCounter } from "@colloquy/machine/policies";

/** A model that answers call by call from a script. */
export interface ScriptedModel extends LlmHandler {
  /** The received calls, oldest first, unexpected ones included. */
  readonly calls: readonly CallLlm[];
  /** Throws if a line of the script was not used, or if a call was unexpected, even if its error was caught. */
  assertComplete(): void;
}

/**
 * Makes a model that answers its first call with the first line, the second with the second, and so on. Delays pass on
 * the call's clock. A call after the last line, or one that the next line does not expect, throws an
 * `UnexpectedCallError`; the line stays unused.
 */
export const scriptedModel = (script: readonly ScriptLine[]): ScriptedModel => {
  const calls: CallLlm[] = [];
  const unexpected: Error[] = [];
  let used = 0;

  const handler: LlmHandler = async (call, context) => {
    calls.push(call);
    const number = calls.length;
    const line = script[used];
    const problem = line === undefined ? beyondScript(script.length) : mismatch(line.expects, call);
    if (line === undefined || problem !== null) {
      const error = new UnexpectedCallError(number, call, problem ?? "");
      unexpected.push(error);
      throw error;
    }
    used++;
    return perform(line, call, context, (position) => `call_${number}_${position + 1}`);
  };

  const assertComplete = (): void => {
    const [first] = unexpected;
    if (first !== undefined) throw first;
    const left = script.slice(used);
    if (left.length === 0) return;
    const lines = left.map((line, index) => `  line ${used + index + 1}: ${describe(line)}`);
    throw new Error(
      `the script was not used up: the model was called ${calls.length} times, and ${left.length} of ${script.length} lines are left:\n${lines.join("\n")}\nTake them out, or find out why the calls did not come.`,
    );
  };

  return Object.assign(handler, { calls, assertComplete });
};

/** An error for a call that the script of a model does not expect. */
export class UnexpectedCallError extends Error {
  override readonly name = "UnexpectedCallError";
  /** The number of the model's call, from 1. */
  readonly callNumber: number;

  constructor(callNumber: number, call: CallLlm, problem: string) {
    const last = viewPrompt(call.messages).last;
    const ending = last === undefined ? "an empty prompt" : `${last.role}: ${JSON.stringify(shortened(last.text))}`;
    super(
      `call ${callNumber} of the scripted model was not expected: ${problem}\nIts prompt has ${call.messages.length} messages and ends with ${ending}.`,
    );
    this.callNumber = callNumber;
  }
}

const beyondScript = (lines: number): string =>
  `its script has ${lines === 1 ? "one line" : `${lines} lines`}. Add one, such as reply("…"), or find out why the model is called again.`;

/** Describes why a call does not match; null if it does. */
const mismatch = (expects: PromptMatcher | undefined, call: CallLlm): string | null => {
  if (expects === undefined) return null;
  const prompt = viewPrompt(call.messages);
  const text = prompt.last?.text ?? "";
  if (typeof expects === "string") {
    return text === expects ? null : `the line expects the newest message to be ${JSON.stringify(expects)}.`;
  }
  if (expects instanceof RegExp) {
    return text.search(expects) >= 0 ? null : `the line expects the newest message to match ${String(expects)}.`;
  }
  return judged(expects, prompt, call);
};

const judged = (expects: Exclude<PromptMatcher, string | RegExp>, prompt: PromptView, call: CallLlm): string | null => {
  try {
    return expects(prompt, call) === false ? `the line's "expects" gave false.` : null;
  } catch (error) {
    return `the line's "expects" threw: ${error instanceof Error ? error.message : String(error)}`;
  }
};

const describe = ({ pieces, ending, expects }: ScriptLine): string => {
  const shown = pieces.map((piece) => {
    return "toolCall" in piece ? `[calls ${piece.toolCall.name}]` : spoken(piece)[1];
  });
  const end = ending === null ? " [never ends]" : ending.type === "failed" ? ` [fails: ${ending.failure.kind}]` : "";
  const wanted = typeof expects === "string" || expects instanceof RegExp ? ` (expects ${String(expects)})` : "";
  return `${JSON.stringify(shortened(shown.join("")))}${end}${wanted}`;
};

const lettersShown = 120;

const shortened = (text: string): string =>
  text.length <= lettersShown ? text : `${text.slice(0, lettersShown)}… (${text.length} characters)`;

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
      text += spoken(piece)[1];
    }
  }
  return calls + (text === "" ? 0 : counter.countPart({ type: "text", text }));
};

const noRule = (rules: readonly Rule[], prompt: PromptView): string =>
  `no rule is meant for this prompt of ${prompt.messages.length} messages, whose newest user message is ` +
  `${JSON.stringify(prompt.lastUserText)}. Rules, in order: ${rules.map(({ name }) => name).join(", ") || "none"}. ` +
  'Add a last one that is always meant: { name: "else", when: () => true, answer: () => "…" }.';
