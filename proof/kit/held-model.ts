import type { LlmHandler } from "@colloquy/host";
import { textOf } from "@colloquy/machine";

/** A model that repeats each question, and can be held in the middle of an answer. */
export class HeldModel {
  /** The questions of its calls. */
  readonly asked: string[] = [];
  #held: { readonly question: string; readonly gate: PromiseWithResolvers<void> } | null = null;
  #heard = (): void => {};

  /** Holds the answers to a question from now on until `release`. */
  hold(question: string): void {
    this.#held = { question, gate: Promise.withResolvers() };
  }

  release(): void {
    this.#held?.gate.resolve();
    this.#held = null;
  }

  /** Waits until a question was asked so often; false if that takes too long. */
  async askedFor(question: string, times: number, patienceMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), patienceMs);
    this.#heard = () => {
      if (this.asked.filter((each) => each === question).length >= times) resolve(true);
    };
    this.#heard();
    const isAsked = await promise;
    clearTimeout(timer);
    return isAsked;
  }

  readonly handler: LlmHandler = async ({ messages }) => {
    const last = messages.findLast(({ role }) => role === "user");
    const question = last === undefined ? "" : textOf(last);
    this.asked.push(question);
    this.#heard();
    if (this.#held?.question === question) await this.#held.gate.promise;
    return { type: "completed", reply: { content: `You said: ${question}` }, finishReason: "stop" };
  };
}
