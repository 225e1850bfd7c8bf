import type { Entry, Event, Handled, State } from "@colloquy/machine";
import { start, transition } from "@colloquy/machine";
import type { Ask } from "../ask/ask.ts";
import { resultsDecided } from "../ask/parts.ts";
import type { AskPart } from "../ask/parts.ts";
import type { Equipment } from "../equipment.ts";
import { LeaseLostError, StoreError, ThreadClosedError, ThreadExistsError, ThreadUnknownError } from "../errors.ts";
import { toldStart } from "../told-event.ts";
import type { ToolContext } from "../tools/tool.ts";
import { appendError } from "./append-error.ts";
import { HeldLease } from "./held-lease.ts";
import { type LlmRun, withShown } from "./llm-run.ts";
import type { Mail } from "./mail.ts";
import { load } from "./opening.ts";
import { perform, stop } from "./perform.ts";
import { recover } from "./recovery.ts";
import { Rest } from "./rest.ts";

/** Something that is being done, under the id of its effect. */
export interface Running {
  /** Stops it; nothing comes of it any more. */
  stop(reason: Error | null): void;
}

/**
 * The loop of one thread. Its law:
 *
 * 1. Take one event. Let the machine decide what it comes to.
 * 2. Append its entry, with the seq that it continues, under the lease.
 * 3. Only then take over the new state and perform the effects, in order.
 * 4. Only then take the next event. Whoever performs an effect answers by an event, never otherwise.
 *
 * Whatever goes wrong in between (the store fails, the lease is lost) ends the loop, and what it was doing is
 * stopped: nobody knows how far it got. The next use of the thread reads the journal and recovers, as it would
 * after a crash.
 */
export class ThreadLoop {
  readonly threadId: string;
  readonly equipment: Equipment;
  /** Asks that are not settled. */
  readonly asks: Set<Ask> = new Set();
  readonly running: Map<string, Running> = new Map();
  /** The model call that is out for an answer. */
  responding: LlmRun | null = null;
  readonly #mailbox: Mail[] = [];
  readonly #onEnd: (loop: ThreadLoop) => void;
  /** Opening, or between taking an event and having performed its effects. */
  #busy = true;
  #state: State | null = null;
  #lease: HeldLease | null = null;
  /** What must be over before the lease can be given back. */
  #underWay: Promise<void>;
  #ended: Error | null = null;
  #released: Promise<void> | null = null;
  readonly #rest: Rest;

  /** @param after the end of the loop before this one, which has to be over before the thread can be opened. */
  constructor(
    threadId: string,
    equipment: Equipment,
    after: Promise<void> | undefined,
    onEnd: (loop: ThreadLoop) => void,
  ) {
    this.threadId = threadId;
    this.equipment = equipment;
    this.#onEnd = onEnd;
    const { clock, idleMs } = equipment;
    const letGo = (): void => void this.close();
    this.#rest = new Rest(clock, idleMs, () => this.#isIdle(), letGo);
    this.#underWay = this.#open(after);
  }

  /** Null while the thread is being opened. */
  get state(): State | null {
    return this.#state;
  }

  /** Puts an event into the mailbox; it is taken when those before it are done. */
  post(mail: Mail): void {
    if (this.#ended !== null) {
      mail.receipt?.failed(this.#ended);
      return;
    }
    this.#mailbox.push(mail);
    if (!this.#busy) this.#drain();
  }

  /** Puts an ask into the mailbox, and tells it of its turn from then on. */
  postAsk(ask: Ask, event: Event): void {
    this.asks.add(ask);
    ask.whenSettled(this.#forget);
    this.post({ event, receipt: ask });
  }

  /** Takes an ask out of the mailbox again. False when it was taken already. */
  takeBack(ask: Ask): boolean {
    const index = this.#mailbox.findIndex(({ receipt }) => receipt === ask);
    if (index >= 0) this.#mailbox.splice(index, 1);
    return index >= 0;
  }

  /** Shows a part to the asks of a turn. */
  emit(turn: number, part: AskPart): void {
    for (const ask of this.asks) if (ask.turn === turn) ask.push(part);
  }

  /** The host's tool context with that of a turn's first ask laid over it: who asks again under the same id changes nothing. */
  toolContextOf(turn: number): ToolContext {
    const { toolContext } = this.equipment;
    for (const ask of this.asks) if (ask.turn === turn) return { ...toolContext, ...ask.toolContext };
    return toolContext;
  }

  /** Ends the loop without ending the turn: what is being done is stopped, and goes on when the thread is next opened. */
  close(): Promise<void> {
    this.#end(new ThreadClosedError(this.threadId));
    return this.released;
  }

  /** When the lease is given back. */
  get released(): Promise<void> {
    return this.#released ?? this.#underWay;
  }

  /** Whether a model or a tool may be called now: only by who holds the lease. One that ran out unnoticed ends the loop. */
  mayCall(): boolean {
    if (this.#lease?.ranOut === true) this.#end(new LeaseLostError(this.#lease.lease));
    return this.#ended === null;
  }

  async #open(after: Promise<void> | undefined): Promise<void> {
    try {
      await after;
      this.#lease = await HeldLease.take(this.threadId, this.equipment, (error) => this.#end(error));
      const state = this.#ended === null ? await load(this.equipment, this.threadId) : null;
      if (this.#ended !== null) return;
      if (state === null) await this.#begin();
      else {
        this.#state = state;
        this.#mailbox.unshift(...recover(this, state));
      }
    } catch (thrown) {
      // What is thrown here was made by this package, or is what `start` says of a seed.
      this.#end(thrown instanceof Error ? thrown : new StoreError(this.threadId, "open it", thrown));
    }
    this.#drain();
  }

  /** The thread is new: what somebody started it with, or the defaults, is its first entry. */
  async #begin(): Promise<void> {
    const first = this.#mailbox[0];
    const explicit = first?.event.type === "thread.started" ? first.event : null;
    if (explicit === null && !this.#mailbox.some(({ event }) => makesThread.has(event.type))) {
      throw new ThreadUnknownError(this.threadId);
    }
    const { machine, clock, threadDefaults, observation } = this.equipment;
    const { threadId } = this;
    const given = explicit ?? { ...threadDefaults, type: "thread.started", threadId, at: clock.now() };
    const { type: _, ...input } = toldStart(given);
    const { state, entry } = start(machine, input);
    await this.#append(entry);
    if (this.#ended !== null) return;
    this.#state = state;
    if (explicit !== null) this.#mailbox.shift()?.receipt?.accepted(entry);
    observation.entry(entry, this.threadId);
  }

  #drain(): void {
    this.#busy = true;
    for (let mail = this.#next(); mail !== null; mail = this.#next()) {
      try {
        const step = this.#decide(mail);
        if (step === null) continue;
        const appending = this.#append(step.entry);
        if (appending !== undefined) {
          this.#underWay = this.#goOn(appending, mail, step);
          return;
        }
        this.#commit(mail, step);
      } catch (thrown) {
        this.#fail(mail, thrown);
      }
    }
    this.#busy = false;
    this.#rest.begin();
  }

  /** As `#drain` after the append, where that takes its time. */
  async #goOn(appending: Promise<void>, mail: Mail, step: Handled): Promise<void> {
    try {
      await appending;
      if (this.#ended !== null) throw this.#ended;
      this.#commit(mail, step);
    } catch (thrown) {
      this.#fail(mail, thrown);
    }
    this.#drain();
  }

  #next(): Mail | null {
    return this.#ended === null ? (this.#mailbox.shift() ?? null) : null;
  }

  /** What an event comes to; null when it changes nothing, of which its sender is told. */
  #decide({ event, receipt, recovered }: Mail): Handled | null {
    const state = this.#state;
    if (state === null) return null;
    if (event.type === "thread.started") {
      receipt?.failed(new ThreadExistsError(this.threadId));
      return null;
    }
    const told = event.type === "cancel.requested" ? withShown(event, state, this.responding) : event;
    const step = transition(this.equipment.machine, state, told, recovered === true ? { recovered } : undefined);
    if (!step.handled) {
      receipt?.refused(step.refusal, state);
      return null;
    }
    const { responding } = this;
    if (step.effects.some((effect) => effect.type === "cancelLlm" && effect.effectId === responding?.effectId))
      responding?.mute();
    return step;
  }

  #append(entry: Entry): Promise<void> | undefined {
    if (this.#lease === null) throw new ThreadClosedError(this.threadId);
    try {
      const appending = this.equipment.store.append(this.#lease.lease, entry.seq - 1, [entry]);
      // A thenable of a library has no catch of its own.
      if (appending === undefined) return undefined;
      return Promise.resolve(appending).catch((thrown: unknown) => {
        throw appendError(this.threadId, thrown);
      });
    } catch (thrown) {
      throw appendError(this.threadId, thrown);
    }
  }

  #commit({ receipt }: Mail, { state, entry, effects }: Handled): void {
    const before = this.#state;
    this.#state = state;
    receipt?.accepted(entry);
    this.equipment.observation.entry(entry, this.threadId);
    if (this.asks.size > 0 && before !== null) {
      for (const part of resultsDecided(entry, before)) this.emit(part.turn, part);
    }
    // An answer may come from outside, to what is being done here as well.
    if (isAnswer(entry.event)) stop(this, entry.event.effectId);
    for (const effect of effects) {
      // An observer may have closed the thread.
      if (this.#ended === null) perform(this, effect);
    }
  }

  #fail({ receipt }: Mail, thrown: unknown): void {
    // Anything else than an error comes from no code of this package, or of the machine.
    const error = thrown instanceof Error ? thrown : new StoreError(this.threadId, "go on", thrown);
    receipt?.failed(error);
    this.#end(error);
  }

  #end(reason: Error): void {
    if (this.#ended !== null) return;
    this.#ended = reason;
    this.#rest.end();
    for (const running of this.running.values()) running.stop(reason);
    this.running.clear();
    for (const { receipt } of this.#mailbox.splice(0)) receipt?.failed(reason);
    for (const ask of this.asks) ask.fail(reason);
    this.#released = this.#release();
    this.#onEnd(this);
  }

  async #release(): Promise<void> {
    await this.#underWay;
    await this.#lease?.release();
  }

  #isIdle(): boolean {
    if (this.#ended !== null || this.#busy || this.#mailbox.length > 0 || this.running.size > 0) return false;
    return this.asks.size === 0 && this.#state?.context.open === null && this.#state.context.queue.length === 0;
  }

  readonly #forget = (ask: Ask): void => {
    this.asks.delete(ask);
  };
}

/** Events that mean something to a thread that is not there yet. */
const makesThread: ReadonlySet<string> = new Set(["ask.received", "message.appended", "system.changed", "turn.added"]);

const isAnswer = (event: Entry["event"]): event is Extract<Entry["event"], { readonly effectId: string }> =>
  "effectId" in event && event.type !== "llm.progressed" && event.type !== "tool.started";
