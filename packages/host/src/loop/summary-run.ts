import type { CallLlm } from "@colloquy/machine";
import { callModel, type GivenOutcome, llmAnswer } from "./llm-answer.ts";
import type { LoopPort, Running } from "./loop-port.ts";

/** A summary that is written in the background. Asks and hooks see nothing of it. */
export class SummaryRun implements Running {
  readonly #loop: LoopPort;
  readonly #call: CallLlm;
  readonly #controller = new AbortController();

  constructor(loop: LoopPort, call: CallLlm) {
    this.#loop = loop;
    this.#call = call;
  }

  begin(): void {
    this.#loop.running.set(this.#call.id, this);
    void this.#run();
  }

  stop(reason: Error | null): void {
    this.#controller.abort(...(reason === null ? [] : [reason]));
  }

  async #run(): Promise<void> {
    const { signal } = this.#controller;
    const { host, running } = this.#loop;
    const { clock } = host;
    if (!this.#loop.mayCall()) return;
    const outcome = await callModel(host, this.#call, { signal, clock, onDelta: () => {}, tools: [] });
    if (signal.aborted) return;
    running.delete(this.#call.id);
    const event = llmAnswer(this.#call, withoutPartial(outcome), clock.now(), undefined);
    this.#loop.post({ event, sender: null });
  }
}

/** Removes the partial reply of a failed summary: half a summary is useless, and no journal needs it. */
const withoutPartial = (outcome: GivenOutcome): GivenOutcome => {
  if (outcome.type !== "failed") return outcome;
  const { partial, ...failed } = outcome;
  // The part that arrived was paid for, in an unknown amount.
  return partial === undefined ? failed : { usage: {}, ...failed };
};
