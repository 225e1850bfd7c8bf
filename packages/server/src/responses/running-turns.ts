import { type AskHandle, type Clock, type HostedThread, TurnError } from "@colloquy/host";
import { noUsage, turnNumbered } from "@colloquy/machine";
import type { Leg } from "./leg.ts";
import type { Moment, TurnOutput, TurnPart } from "./turn-output.ts";

interface LogBounds {
  readonly keepMs: number;
  /** The size of all logs, in UTF-16 units. */
  readonly charactersMax: number;
}

/** The turns that this process shows, with one log for each leg, however many clients read it. */
export class RunningTurns {
  readonly #turns = new Map<string, RunningTurn>();
  readonly #clock: Clock;
  readonly #bounds: LogBounds;
  #characters = 0;

  constructor(clock: Clock, bounds: LogBounds) {
    this.#clock = clock;
    this.#bounds = bounds;
  }

  now(): number {
    return this.#clock.now();
  }

  of(threadId: string, turn: number): RunningTurn | undefined {
    return this.#turns.get(keyOf(threadId, turn));
  }

  /** Shows a turn from here on. @param output the output so far; its ended legs are not shown again */
  add(thread: HostedThread, askId: string, output: TurnOutput): RunningTurn {
    const turn = new RunningTurn(thread, askId, output, this);
    this.#turns.set(keyOf(thread.id, turn.number), turn);
    output.watch({
      begun: (leg, number) => {
        turn.begin(number, leg);
        leg.log.countBy((characters) => this.#grow(characters));
      },
      ended: (number) => {
        this.#clock.wakeAt(this.now() + this.#bounds.keepMs, () => this.#forget(turn, number));
      },
    });
    return turn;
  }

  forgetTurn(threadId: string, number: number): void {
    const turn = this.of(threadId, number);
    for (const leg of turn?.legs.keys() ?? []) if (turn !== undefined) this.#forget(turn, leg);
  }

  forgetThread(threadId: string): void {
    for (const { thread, number } of this.#turns.values())
      if (thread.id === threadId) this.forgetTurn(threadId, number);
  }

  /** Drops a turn that has no log here any more. */
  drop(turn: RunningTurn): void {
    if (this.of(turn.thread.id, turn.number) === turn) this.#turns.delete(keyOf(turn.thread.id, turn.number));
  }

  #forget(turn: RunningTurn, leg: number): void {
    const shown = turn.legs.get(leg);
    if (shown === undefined) return;
    turn.legs.delete(leg);
    shown.log.lose();
    if (turn.legs.size === 0 && !turn.isFollowed) this.drop(turn);
  }

  /** Counts characters and frees space: ended logs go first, then running ones are trimmed, and lost at last. */
  #grow(characters: number): void {
    this.#characters += characters;
    if (characters <= 0 || this.#characters <= this.#bounds.charactersMax) return;
    const free = (from: (turn: RunningTurn) => void): void => {
      for (const turn of this.#turns.values()) if (this.#characters > this.#bounds.charactersMax) from(turn);
    };
    free((turn) => {
      for (const [leg, { log }] of turn.legs) if (log.isEnded) this.#forget(turn, leg);
    });
    free(({ legs }) => legs.forEach(({ log }) => log.trim()));
    free(({ legs }) => legs.forEach(({ log }) => log.lose()));
  }
}

const keyOf = (threadId: string, turn: number): string => `${turn}/${threadId}`;

/** A turn that is shown: its parts are turned into legs once, however many clients read them. */
export class RunningTurn {
  readonly thread: HostedThread;
  readonly askId: string;
  readonly output: TurnOutput;
  /** The legs whose events are kept here. */
  readonly legs: Map<number, Leg> = new Map();
  readonly #turns: RunningTurns;
  /** The legs that callers wait for, by number. */
  readonly #awaited = new Map<number, PromiseWithResolvers<Leg | null>>();
  #isFollowed = false;
  /** The newest step of the ended legs. Its parts may come again. */
  #known: number;

  constructor(thread: HostedThread, askId: string, output: TurnOutput, turns: RunningTurns) {
    this.thread = thread;
    this.askId = askId;
    this.output = output;
    this.#turns = turns;
    this.#known = output.knownThrough;
  }

  get number(): number {
    return this.output.turn.turn;
  }

  get isFollowed(): boolean {
    return this.#isFollowed;
  }

  /** Resolves to a leg when it starts; to null if the turn ends without showing it. */
  leg(number: number): Promise<Leg | null> {
    const shown = this.legs.get(number);
    if (shown !== undefined) return Promise.resolve(shown);
    const awaited = this.#awaited.get(number) ?? Promise.withResolvers<Leg | null>();
    // The rejection needs no handler.
    awaited.promise.catch(() => {});
    this.#awaited.set(number, awaited);
    return awaited.promise;
  }

  begin(number: number, leg: Leg): void {
    this.legs.set(number, leg);
    this.#awaited.get(number)?.resolve(leg);
    this.#awaited.delete(number);
  }

  /** Shows the parts of a handle until the turn ends, or waits for an answer while no caller awaits a later leg. */
  follow(handle: AskHandle): void {
    this.#isFollowed = true;
    void this.#follow(handle)
      .catch((thrown: unknown) => this.#fail(thrown))
      .finally(() => {
        if (this.legs.size === 0) this.#turns.drop(this);
      });
  }

  /** Starts the leg after an answered one at once: its first part may take a while. */
  continueAfter(leg: number): void {
    if (this.#isFollowed && this.output.leg === leg && this.output.running === null)
      this.output.apply({ type: "answered" }, this.#now());
  }

  async #follow(handle: AskHandle): Promise<void> {
    const { output } = this;
    let isCatchingUp = this.#known > 0;
    for await (const part of handle) {
      if ("step" in part && part.type !== "replay.started") isCatchingUp = part.step <= this.#known;
      if (isCatchingUp && !mayComeAgain.has(part.type)) continue;
      // Nothing else runs between most parts and their events.
      const mayEnd = part.type === "turn.ended" || mayEndLeg.has(part.type);
      const moment = mayEnd ? await this.#momentOf(part, handle) : this.#now();
      const { leg, running } = output;
      output.apply(
        part.type === "replay.started" ? { ...part, step: Math.max(part.step, this.#known + 1) } : part,
        moment,
      );
      if (part.type === "turn.ended") break;
      // One part may start a leg and end it, if a call's approval is requested again.
      if (output.running !== null || (running === null && output.leg === leg)) continue;
      this.#known = output.knownThrough;
      if (this.#awaited.size > 0) continue;
      // Set it before any other code runs: a caller that awaits a leg from here on follows the turn again.
      this.#isFollowed = false;
      return;
    }
    this.#stop(({ resolve }) => resolve(null));
  }

  /** Stops following, and settles the waits for later legs. */
  #stop(settle: (awaited: PromiseWithResolvers<Leg | null>) => void): void {
    this.#isFollowed = false;
    for (const awaited of this.#awaited.values()) settle(awaited);
    this.#awaited.clear();
  }

  #now(): Moment {
    return { at: this.#turns.now(), usage: noUsage, outcome: null };
  }

  /** Returns the facts of the turn at its end, or where it may wait for an outside answer. */
  async #momentOf({ type }: TurnPart, handle: AskHandle): Promise<Moment> {
    if (type !== "turn.ended") {
      const state = await this.thread.state();
      const open = state?.context.open;
      const usage = open?.number === this.number ? open.usage : noUsage;
      const outcome = (state === null ? undefined : turnNumbered(state, this.number))?.outcome ?? null;
      return { at: state?.context.updatedAt ?? this.#turns.now(), usage, outcome };
    }
    const usage = await handle.then(
      (result) => result.usage,
      (thrown: unknown) => (thrown instanceof TurnError ? thrown.summary.usage : noUsage),
    );
    const asked = await this.thread.asked(this.askId);
    return { at: asked?.endedAt ?? this.#turns.now(), usage, outcome: asked?.outcome ?? null };
  }

  /** Rejects the waits for legs and fails the readers, since the host failed to continue. */
  #fail(thrown: unknown): void {
    this.#stop(({ reject }) => reject(thrown));
    const why = thrown instanceof Error ? thrown : new Error(String(thrown));
    const { running, leg } = this.output;
    running?.fail(why);
    if (running !== null) this.legs.delete(leg);
    // Drop the half-applied turn; the next reader starts it again from the journal.
    this.#turns.drop(this);
  }
}

const mayEndLeg: ReadonlySet<TurnPart["type"]> = new Set(["toolResult", "approval.requested", "result.requested"]);
const mayComeAgain: ReadonlySet<TurnPart["type"]> = new Set([...mayEndLeg, "turn.ended"]);
