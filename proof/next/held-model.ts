import type { LlmHandler } from "@colloquy/host";
import { textOf } from "@colloquy/machine";

/** A model that repeats each question, and can be held in the middle of an answer. */
export class HeldModel {
  readonly asked: string[] = [];
  #gate: PromiseWithResolvers<void> | null = null;
  #held = Promise.withResolvers<void>();

  /** Holds calls whose question begins with `hold`, until `release`. */
  hold(): void {
    this.#gate = Promise.withResolvers();
    this.#held = Promise.withResolvers();
  }

  /** Resolves when a call is held. */
  get held(): Promise<void> {
    return this.#held.promise;
  }

  release(): void {
    this.#gate?.resolve();
    this.#gate = null;
  }

  readonly handler: LlmHandler = async ({ messages }) => {
    const text =
      messages
        .filter(({ role }) => role === "user")
        .map(textOf)
        .at(-1) ?? "";
    this.asked.push(text);
    if (text.startsWith("hold") && this.#gate !== null) {
      this.#held.resolve();
      await this.#gate.promise;
    }
    return { type: "completed", reply: { content: `You said: ${text}` }, finishReason: "stop" };
  };
}
