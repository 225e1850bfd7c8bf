import type {
  CallLlm,
  CancelRequested,
  Entry,
  LlmCompleted,
  LlmProgressed,
  ReplyDraft,
  State,
} from "@colloquy/machine";
import { callIdAt } from "@colloquy/machine/hosting";
import type { Sender } from "../mailbox/mailbox.ts";
import { ShownOutput } from "../output/partial-json.ts";
import type { LlmContext, LlmDelta } from "../ports/llm.ts";
import { callModel, llmAnswer, offeredTools } from "./llm-answer.ts";
import type { LoopPort, Responding, Running } from "./loop-port.ts";
import { isDelta, ShownReply } from "./shown-reply.ts";

/** A model call that is out, for an answer. */
export class LlmRun implements Running, Responding, Sender {
  readonly #loop: LoopPort;
  readonly #call: CallLlm;
  readonly #controller = new AbortController();
  readonly #shown = new ShownReply();
  readonly #output: ShownOutput | null;
  #cancelProgress: (() => void) | null = null;
  #hasJournalled = false;
  #over = false;
  #isCalling = false;

  constructor(loop: LoopPort, call: CallLlm) {
    this.#loop = loop;
    this.#call = call;
    this.#output = call.output === undefined ? null : new ShownOutput();
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
    if (this.#isCalling) this.#loop.callsToModel--;
    this.#isCalling = false;
    this.#cancelProgress?.();
    this.#cancelProgress = null;
  }

  stop(reason: Error | null): void {
    this.#leave();
    this.#controller.abort(...(reason === null ? [] : [reason]));
  }

  journalProgress(): void {
    const partial = this.#over ? undefined : this.#shown.takeNew();
    if (partial === undefined) return;
    const { host, state } = this.#loop;
    const event: LlmProgressed = {
      type: "llm.progressed",
      at: host.clock.now(),
      effectId: this.#call.id,
      partial,
    };
    // What a run before this one had journalled is void.
    const again = !this.#hasJournalled && hasPartial(state);
    this.#hasJournalled = true;
    this.#loop.post({ event: again ? { ...event, again } : event, sender: null });
  }

  accepted(entry: Entry): void {
    this.#leave();
    if (entry.event.type === "llm.completed") this.#showWhole(entry.event);
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
    // What goes on after its tools is ended before more is begun.
    const entering = host.active.enter(this.#loop, this.#call.step > 1);
    if (entering !== undefined) await entering;
    this.#isCalling = !this.#over && this.#loop.mayCall();
    if (this.#isCalling) this.#loop.callsToModel++;
    this.#loop.reportActivity();
    if (!this.#isCalling) return;
    const context: LlmContext = {
      signal: this.#controller.signal,
      onDelta: (delta) => this.#show(delta),
      onWait: (until) => this.#showWait(until),
      clock: host.clock,
      tools: offeredTools(host, this.#call, this.#loop.state),
    };
    const outcome = await callModel(this.#loop, this.#call, context);
    if (this.#over) return;
    this.mute();
    this.#loop.running.delete(this.#call.id);
    // What was shown stays at hand until the answer is taken: a cancel may be ahead of it in the mailbox.
    this.#loop.post({ event: llmAnswer(this.#call, outcome, host.clock.now(), this.shown), sender: this });
  }

  async #callHooks(): Promise<void> {
    const { observation, active } = this.#loop.host;
    const { threadId, turn, step } = this.#call;
    await active.code.run(this.#loop, async () => {
      if (step === 1) await observation.before("beforeTurn", { threadId, turn });
      await observation.before("beforeStep", this.#call);
    });
  }

  #show(given: LlmDelta): void {
    if (this.#over) return;
    // Read once: it stays its handler's.
    const delta = typeof given === "object" && given !== null ? { ...given } : given;
    if (!isDelta(delta)) {
      // What stands in it may hold a key.
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
      this.#emitText(delta.type, delta.text);
    }
  }

  #showWait(until: number | null | "over"): void {
    if (this.#over) return;
    const part = until === "over" ? wentOn : ({ type: "wait.started", for: "model", until } as const);
    this.#loop.asks.emit(this.#call.turn, part);
  }

  /** One timer from the first news on: so nothing is journalled more often, and nothing when nothing is new. */
  #scheduleProgress(): void {
    const { clock, progressMs } = this.#loop.host;
    if (progressMs === null || this.#cancelProgress !== null) return;
    this.#cancelProgress = clock.wakeAt(clock.now() + progressMs, () => {
      this.#cancelProgress = null;
      this.journalProgress();
    });
  }

  /** What the reply has that its deltas did not show: its calls, and all of its text where nothing was streamed. */
  #showWhole({ reply }: LlmCompleted): void {
    const { turn, step } = this.#call;
    if (this.shown === undefined) {
      const parts =
        typeof reply.content === "string" ? [{ type: "text", text: reply.content } as const] : reply.content;
      for (const part of parts ?? []) {
        if (part.type !== "text" && part.type !== "reasoning" && part.type !== "refusal") continue;
        this.#emitText(part.type, part.text);
      }
    }
    reply.toolCalls?.forEach((call, position) => {
      const place = { turn, step, position, callId: callIdAt(turn, step, position) };
      this.#loop.asks.emit(turn, { type: "toolCall", ...place, name: call.name, arguments: call.arguments });
    });
  }

  /** A text is also shown as what there is of the output so far, where one is wanted. */
  #emitText(type: "text" | "reasoning" | "refusal", text: string): void {
    const { asks, state } = this.#loop;
    const { turn, step, attempt } = this.#call;
    asks.emit(turn, { type: `${type}.delta`, turn, step, attempt, text });
    const value = type === "text" ? this.#output?.add(text) : undefined;
    const refused = state?.context.open?.refusedOutputs?.length ?? 0;
    if (value !== undefined) asks.emit(turn, { type: "output.partial", turn, step, attempt: refused + 1, value });
  }

  #leave(): void {
    this.mute();
    if (this.#loop.responding === this) this.#loop.responding = null;
  }
}

/** A cancel of the open turn carries what had been shown of the reply. */
export const withShown = (
  event: CancelRequested,
  { context }: State,
  responding: Responding | null,
): CancelRequested => {
  const { askId } = event;
  const asks = context.open?.asks ?? [];
  // A turn that answers others as well goes on for them.
  const meant = askId === undefined || (asks.length === 1 && asks[0]?.askId === askId);
  const partial = meant && event.partial === undefined ? responding?.shown : undefined;
  return partial === undefined ? event : { ...event, partial };
};

const wentOn = { type: "wait.ended" } as const;

const hasPartial = (state: State | null): boolean => {
  const stage = state?.context.open?.stage;
  return stage?.type === "responding" && stage.call.partial !== null;
};
