import type { LlmHandler } from "@colloquy/host";
import type { CallLlm } from "@colloquy/machine";
import { perform } from "./perform.ts";
import { type PromptView, viewPrompt } from "./prompt-view.ts";
import type { PromptMatcher, ScriptLine } from "./script.ts";

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
    if ("toolCall" in piece) return `[calls ${piece.toolCall.name}]`;
    return "text" in piece ? piece.text : "reasoning" in piece ? piece.reasoning : piece.refusal;
  });
  const end = ending === null ? " [never ends]" : ending.type === "failed" ? ` [fails: ${ending.failure.kind}]` : "";
  const wanted = typeof expects === "string" || expects instanceof RegExp ? ` (expects ${String(expects)})` : "";
  return `${JSON.stringify(shortened(shown.join("")))}${end}${wanted}`;
};

const lettersShown = 120;

const shortened = (text: string): string =>
  text.length <= lettersShown ? text : `${text.slice(0, lettersShown)}… (${text.length} characters)`;
