import { setTimeout as passed } from "node:timers/promises";

import type { LlmHandler, LlmOutcome } from "@colloquy/host";
import { textOf } from "@colloquy/machine";

/** A call that asks for the order, or one that has its result. */
export type CallKind = "ask" | "answer";

/** A call of a model. */
export interface ModelCall {
  readonly question: string;
  readonly kind: CallKind;
  /** By the clock of `performance`. */
  readonly begun: number;
  /** Resolves when the caller has gone before it was answered, with the time. */
  readonly gone: Promise<number>;
}

/** The question that makes the model order a thing. */
export const orderOf = (thing: string): string => `order ${thing}`;

/** Returns what the model answers in the end. */
export const answerTo = (question: string): string =>
  question.startsWith("order ") ? `It is done: ${question}.` : `You said: ${question}.`;

/** A model that orders what it is asked for, repeats all else, and keeps a call until its caller is gone. */
export class ShopModel {
  readonly calls: ModelCall[] = [];
  #held: { readonly question: string; readonly kind: CallKind; readonly resolve: (call: ModelCall) => void } | null =
    null;

  /** Leaves the next such call unanswered, and no later one. Resolves when it is made. */
  hold(question: string, kind: CallKind): Promise<ModelCall> {
    const { promise, resolve } = Promise.withResolvers<ModelCall>();
    this.#held = { question, kind, resolve };
    return promise;
  }

  /** How often a question led to a call. */
  count(question: string, kind: CallKind): number {
    return this.calls.filter((call) => call.question === question && call.kind === kind).length;
  }

  readonly handler: LlmHandler = async ({ messages }, { signal, onDelta }) => {
    // What recovery says in place of a result is no question.
    const asked = messages.findLastIndex(({ role, synthesised }) => role === "user" && synthesised !== true);
    const [first, ...since] = messages.slice(asked);
    const question = first === undefined ? "" : textOf(first);
    const kind: CallKind = question.startsWith("order ") && since.length === 0 ? "ask" : "answer";
    const gone = new Promise<number>((resolve) => {
      signal.addEventListener("abort", () => resolve(performance.now()), { once: true });
    });
    const call: ModelCall = { question, kind, begun: performance.now(), gone };
    this.calls.push(call);
    if (this.#held?.question === question && this.#held.kind === kind) {
      this.#held.resolve(call);
      this.#held = null;
      await gone;
    }
    if (kind === "ask") return ordering(question.slice("order ".length));
    for (const word of answerTo(question).split(/(?<= )/u)) {
      onDelta({ type: "text", text: word });
      await passed(wordMs);
    }
    return { type: "completed", reply: { content: answerTo(question) }, finishReason: "stop" };
  };
}

const ordering = (thing: string): LlmOutcome => ({
  type: "completed",
  reply: { content: "", toolCalls: [{ id: "call", name: "order", arguments: JSON.stringify({ thing }) }] },
  finishReason: "tool_calls",
});

/** Long enough that a kill at any moment meets an answer now and then. */
const wordMs = 3;
