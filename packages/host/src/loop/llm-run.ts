import type { CallLlm, Entry, LlmCompleted, ReplyDraft } from "@colloquy/machine";
import { callIdAt } from "@colloquy/machine/hosting";
import type { Sender } from "../mailbox/mailbox.ts";
import { ShownOutput } from "../output/partial-json.ts";
import type { LlmContext, LlmDelta } from "../ports/llm.ts";
import { callModel, llmAnswer, offeredTools } from "./llm-answer.ts";
import type { LoopPort, Responding, Running } from "./loop-port.ts";
import { type ShownCall, showReply, showText } from "./report.ts";
import { isDelta, ShownReply } from "./shown-reply.ts";
import { hasPartial, progressOf } from "./step.ts";

/** A model call that is outstanding. */
export class LlmRun implements Running, Responding, Sender {
  readonly #loop: LoopPort;
  readonly #call: CallLlm;
  readonly #controller = new AbortController();
  readonly #shown = new ShownReply();
  readonly #place: ShownCall;
  #cancelProgress: (() => void) | null = null;
  #hasJournalled = false;
  #over = false;

  constructor(loop: LoopPort, call: CallLlm) {
    this.#loop = loop;
    this.#call = call;
    const { turn, step, attempt, output } = call;
    this.#place = { turn, step, attempt, output: output === undefined ? null : new ShownOutput() };
  }

  get effectId(): string {
    return this.#call.id;
  }

  get shown(): ReplyDraft | undefined {
    return this.#shown.draft;
  }

  begin(): void {
    this.#loop.running.set(this.#call.id, this);
    this.#loop.responding = this;
    void this.#run();
  }

  mute(): void {
    this.#over = true;
    this.#cancelProgress?.();
    this.#cancelProgress = null;
  }

  showOther(event: LlmCompleted): void {
    const { output } = this.#call;
    // As of a later attempt, so that readers drop what was shown of this one.
    const attempt = this.shown === undefined ? this.#place.attempt : this.#place.attempt + 1;
    const place = { ...this.#place, attempt, output: output === undefined ? null : new ShownOutput() };
    showReply(this.#loop, place, event, false);
  }

  stop(reason: Error | null): void {
    this.#leave();
    this.#controller.abort(...(reason === null ? [] : [reason]));
  }

  journalProgress(): void {
    const partial = this.#over ? undefined : this.#shown.takeNew();
    if (partial === undefined) return;
    const { host, state } = this.#loop;
    // The partial reply that an earlier run had journalled is void.
    const again = !this.#hasJournalled && hasPartial(state);
    this.#hasJournalled = true;
    this.#loop.post({ event: progressOf(this.#call.id, partial, host.clock.now(), again), sender: null });
  }

  accepted(entry: Entry): void {
    this.#leave();
    if (entry.event.type === "llm.completed") showReply(this.#loop, this.#place, entry.event, this.shown !== undefined);
  }

  refused(): void {
    this.#leave();
  }

  failed(): void {
    this.#leave();
  }

  async #run(): Promise<void> {
    const { host } = this.#loop;
    const { hooks } = host.observation;
    if (this.#call.attempt === 1 && (hooks.beforeTurn ?? hooks.beforeStep) !== undefined) await this.#callHooks();
    if (this.#over) return;
    if (!this.#loop.mayCall()) return;
    const context: LlmContext = {
      signal: this.#controller.signal,
      onDelta: (delta) => this.#show(delta),
      onWait: (until) => this.#showWait(until),
      clock: host.clock,
      tools: offeredTools(host, this.#call, this.#loop.state),
    };
    const outcome = await callModel(host, this.#call, context);
    if (this.#over) return;
    this.mute();
    this.#loop.running.delete(this.#call.id);
    // The shown part is kept until the answer is handled: a cancel may be ahead of it in the mailbox.
    this.#loop.post({ event: llmAnswer(this.#call, outcome, host.clock.now(), this.shown), sender: this });
  }

  async #callHooks(): Promise<void> {
    const { observation } = this.#loop.host;
    const { threadId, turn, step } = this.#call;
    if (step === 1) await observation.before("beforeTurn", { threadId, turn });
    await observation.before("beforeStep", this.#call);
  }

  #show(given: LlmDelta): void {
    if (this.#over) return;
    // Copied once, since the handler may still change the original.
    const delta = typeof given === "object" && given !== null ? { ...given } : given;
    if (!isDelta(delta)) {
      // The value may hold a key.
      this.#loop.host.observation.report(new TypeError("the llm handler gave onDelta what is no delta"), "llm");
      return;
    }
    this.#shown.add(delta);
    this.#scheduleProgress();
    const { turn, step, attempt } = this.#call;
    if (delta.type === "toolCall") {
      const { index: position, id: providerCallId, name, arguments: written } = delta;
      const callId = callIdAt(turn, step, position);
      const place = { type: "toolCall.delta", turn, step, position, callId, attempt } as const;
      this.#loop.asks.emit(turn, { ...place, providerCallId, name, arguments: written });
    } else {
      showText(this.#loop, this.#place, delta.type, delta.text);
    }
  }

  #showWait(until: number | null | "over"): void {
    if (this.#over) return;
    const part = until === "over" ? wentOn : ({ type: "wait.started", for: "model", until } as const);
    this.#loop.asks.emit(this.#call.turn, part);
  }

  /**
   * Starts one timer with the first delta after an entry. So entries are never more frequent, and nothing is journalled
   * without news.
   */
  #scheduleProgress(): void {
    const { clock, progressMs } = this.#loop.host;
    if (progressMs === null || this.#cancelProgress !== null) return;
    this.#cancelProgress = clock.wakeAt(clock.now() + progressMs, () => {
      this.#cancelProgress = null;
      this.journalProgress();
    });
  }

  #leave(): void {
    this.mute();
    if (this.#loop.responding === this) this.#loop.responding = null;
  }
}

const wentOn = { type: "wait.ended" } as const;
