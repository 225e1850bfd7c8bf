import type { Effect, Entry, StartTimer, CallLlm } from "@colloquy/machine";
import { LlmRun, callModel, type GivenOutcome, llmAnswer } from "./llm-run.ts";
import type { LoopPort, Running } from "./loop-port.ts";
import { OutputRun } from "./output-run.ts";
import { ToolRun } from "./tool-run.ts";

/**
 * Starts an effect, or stops the one that it cancels, and returns. Its result is posted to the loop as an event.
 * Approval requests, signals and calls that the caller answers start nothing.
 */
export const perform = (loop: LoopPort, effect: Effect): void => {
  switch (effect.type) {
    case "callLlm":
      if (effect.purpose === "summary") new SummaryRun(loop, effect).begin();
      else new LlmRun(loop, effect).begin();
      return;
    case "checkOutput":
      new OutputRun(loop, effect).begin();
      return;
    case "callTool":
      if (effect.by === undefined) new ToolRun(loop, effect).begin();
      return;
    case "startTimer":
      startTimer(loop, effect);
      return;
    case "cancelLlm":
    case "cancelCheck":
    case "cancelTool":
    case "cancelTimer":
      stop(loop, effect.effectId);
      return;
    case "requestApproval":
    case "cancelApproval":
    case "publish":
  }
};

/** Stops the work that an event answers: an answer may come from outside even to work of this host. */
export const stopAnswered = (loop: LoopPort, event: Entry["event"]): void => {
  if (!isAnswer(event)) return;
  const { responding } = loop;
  // A run that answered itself is not running any more.
  const isOther = responding?.effectId === event.effectId && loop.running.has(event.effectId);
  if (isOther && event.type === "llm.completed") responding.showOther(event);
  stop(loop, event.effectId);
};

const isAnswer = (event: Entry["event"]): event is Extract<Entry["event"], { readonly effectId: string }> =>
  "effectId" in event && event.type !== "llm.progressed" && event.type !== "tool.started";

/** Stops the work under the id of an effect, if there is any. */
const stop = (loop: LoopPort, effectId: string): void => {
  loop.running.get(effectId)?.stop(null);
  loop.running.delete(effectId);
};

const startTimer = (loop: LoopPort, { id, dueAt, purpose }: StartTimer): void => {
  const { clock } = loop.host;
  const cancel = clock.wakeAt(dueAt, () => {
    loop.running.delete(id);
    // A deadline cuts a reply off without carrying its shown part, so that part is journalled first.
    if (purpose === "deadline") loop.responding?.journalProgress();
    loop.post({ event: { type: "timer.fired", at: clock.now(), effectId: id }, sender: null });
  });
  loop.running.set(id, { stop: cancel });
};

/** A summary that is written in the background. Asks and hooks see nothing of it. */
class SummaryRun implements Running {
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
    this.#loop.post({ event, sender: null, isRead: event.type === "llm.completed" });
  }
}

/** Removes the partial reply of a failed summary: half a summary is useless, and no journal needs it. */
const withoutPartial = (outcome: GivenOutcome): GivenOutcome => {
  if (outcome.type !== "failed") return outcome;
  const { partial, ...failed } = outcome;
  // The part that arrived was paid for, in an unknown amount.
  return partial === undefined ? failed : { usage: {}, ...failed };
};
