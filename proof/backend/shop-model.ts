import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as passed } from "node:timers/promises";

import type { LlmHandler, LlmOutcome } from "@colloquy/host";
import { textOf } from "@colloquy/machine";
import { loopbackServer } from "@colloquy/runtime-test/server";

import type { Later } from "../kit/cleanup.ts";
import { newFolder, removeFolder } from "../kit/folder.ts";

/** A call that asks for the order, or one that has its result. */
export type CallKind = "ask" | "answer";

export interface ModelCall {
  readonly question: string;
  readonly kind: CallKind;
  readonly begun: number;
  readonly gone: Promise<number>;
}

export const orderOf = (thing: string): string => `order ${thing}`;

export const answerTo = (question: string): string =>
  question.startsWith("order ") ? `It is done: ${question}.` : `You said: ${question}.`;

export interface BackendOptions {
  readonly kills: number;
  readonly takeovers: number;
  readonly seed: number;
  /** The milliseconds after which a turn or a thread that is not continued counts as lost. */
  readonly patienceMs: number;
}

/** A model that orders what it is asked for, repeats all else, and keeps a call until its caller is gone. */
export class ShopModel {
  readonly calls: ModelCall[] = [];
  #held: { readonly question: string; readonly kind: CallKind; readonly resolve: (call: ModelCall) => void } | null =
    null;

  hold(question: string, kind: CallKind): Promise<ModelCall> {
    const { promise, resolve } = Promise.withResolvers<ModelCall>();
    this.#held = { question, kind, resolve };
    return promise;
  }

  count(question: string, kind: CallKind): number {
    return this.calls.filter((call) => call.question === question && call.kind === kind).length;
  }

  readonly handler: LlmHandler = async ({ messages }, { signal, onDelta }) => {
    // A message that recovery synthesised is not a question.
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

/** Slow enough that some kills at a random moment hit an answer. */
const wordMs = 3;

export const openShop = async (later: Later) => {
  const folder = newFolder("backend");
  later(async () => removeFolder(folder));
  const model = new ShopModel();
  const openai = await loopbackServer({ model: model.handler });
  later(() => openai.close());
  const [orders, log] = [join(folder, "orders.txt"), join(folder, "log.txt")];
  const variables = { OPENAI_BASE_URL: openai.url, OPENAI_API_KEY: "none", ORDERS: orders };
  return { folder, model, orders, log, variables };
};

/** Returns the end of the backend's log if there are violations. */
export const logged = (violations: readonly string[], log: string): string =>
  violations.length === 0 ? "" : readFileSync(log, "utf8").slice(-logCharacters);

const logCharacters = 4_000;
