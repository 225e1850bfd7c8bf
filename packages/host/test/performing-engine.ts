import { type Effect, type Entry, type Event, outstanding, type Refusal, type State } from "@colloquy/machine";
import type { AskPart } from "@colloquy/host";
import {
  type HandledDecision,
  type Performer,
  performerOf,
  type PerformerOptions,
  type Performing,
} from "@colloquy/host/perform";
import type { EngineNews } from "@colloquy/host/store";

/** The smallest engine: a journal in memory, one event at a time, and a performer. Only `crash` loses effects. */
export class Engine {
  readonly journal: Entry[] = [];
  readonly parts: { readonly turn: number; readonly part: AskPart }[] = [];
  readonly refusals: Refusal[] = [];
  state: State | null = null;
  /** Called at once with news. */
  onNews: (news: EngineNews) => void = () => {};
  readonly #threadId: string;
  readonly #performer: Performer;
  readonly #performing = new Map<string, Performing>();
  readonly #timers = new Map<string, () => void>();
  readonly #queue: (() => void)[] = [];

  constructor(options: PerformerOptions, threadId = "default") {
    this.#performer = performerOf(options);
    this.#threadId = threadId;
  }

  get performing(): readonly Performing[] {
    return [...this.#performing.values()];
  }

  /** Starts another worker, which only has the journal. */
  async crash(options: PerformerOptions): Promise<Engine> {
    for (const performing of this.performing) performing.stop(new Error("it crashed"));
    for (const cancel of this.#timers.values()) cancel();
    const next = new Engine(options, this.#threadId);
    next.journal.push(...this.journal);
    next.state = this.state;
    const { state } = this;
    if (state === null) return next;
    const lost: Event[] = [];
    const undone: Effect[] = [];
    for (const effect of outstanding(state)) {
      const event = await next.#performer.lost(effect, state);
      if (event === null) undone.push(effect);
      else lost.push(event);
    }
    for (const effect of undone) next.#perform(effect, state);
    for (const event of lost) next.send(event, true);
    return next;
  }

  send(event: Event, recovered = false): void {
    this.#queue.push(() => this.#handle(event, recovered));
    if (this.#queue.length > 1) return;
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      next();
      this.#queue.shift();
    }
  }

  #handle(event: Event, recovered: boolean): void {
    const at = this.#performer.clock.now();
    let decision = this.#performer.decide(this.#threadId, this.state, event, { at, recovered });
    if (decision.type === "cutsOff") {
      const { effectId } = decision;
      const shown = { effectId, reply: this.#performing.get(effectId)?.shown ?? null };
      decision = this.#performer.decide(this.#threadId, this.state, event, { at, recovered, shown });
    }
    if (decision.type === "cutsOff") throw new Error("what was shown was given");
    if (decision.type === "refused") this.refusals.push(decision.refusal);
    else this.#commit(decision, "effectId" in event ? event.effectId : "");
  }

  #commit(decision: HandledDecision, answered: string): void {
    this.journal.push(...decision.entries);
    this.state = decision.state;
    const streamed = this.#performing.get(answered)?.shown !== undefined;
    this.onNews({ type: "entries" });
    for (const { turn, part } of this.#performer.report(this.#threadId, decision, streamed)) this.#show(turn, part);
    const { event } = decision.entries.at(-1) ?? {};
    if (event?.type === "tool.started") void this.#performing.get(answered)?.goOn().then(this.#answer);
    else this.#stop(answered);
    for (const effect of decision.effects) this.#perform(effect, decision.state);
  }

  #perform(effect: Effect, state: State): void {
    const { clock } = this.#performer;
    if (effect.type === "callLlm" || effect.type === "callTool" || effect.type === "checkOutput") {
      const performing = this.#performer.begin(effect, state, (turn, part) => this.#show(turn, part));
      this.#performing.set(effect.id, performing);
      void performing.told.then(this.#answer);
    } else if (effect.type === "startTimer") {
      const fire = (): void => this.send({ type: "timer.fired", at: clock.now(), effectId: effect.id });
      this.#timers.set(effect.id, clock.wakeAt(effect.dueAt, fire));
    } else if ("effectId" in effect) {
      this.#stop(effect.effectId);
    }
  }

  #show(turn: number, part: AskPart): void {
    this.parts.push({ turn, part });
    this.onNews({ type: "part", turn, part });
  }

  readonly #answer = (told: Event | null): void => {
    if (told !== null) this.send(told);
  };

  #stop(effectId: string): void {
    this.#performing.get(effectId)?.stop(null);
    this.#performing.delete(effectId);
    this.#timers.get(effectId)?.();
    this.#timers.delete(effectId);
  }
}
