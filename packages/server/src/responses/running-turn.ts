import { type AskHandle, type HostedThread, TurnError } from "@colloquy/host";
import type { JsonObject, TurnOutcome } from "@colloquy/machine";
import type { LegLog } from "./leg-log.ts";
import type { LegEvent } from "./leg-writer.ts";
import {
  errorOf,
  figuresOf,
  figuresSince,
  type LegFacts,
  responseObject,
  statusOf,
  type TokenFigures,
} from "./response-object.ts";
import { TurnOutput, type TurnPart } from "./turn-output.ts";

/** A leg that this process shows, or showed recently. */
export interface ShownLeg {
  facts: LegFacts;
  readonly log: LegLog;
  /** Settles when the leg has ended; rejects if the host failed to continue it. */
  readonly ended: Promise<void>;
}

export interface TurnToShow {
  readonly thread: HostedThread;
  readonly number: number;
  readonly askId: string;
  readonly startedAt: number;
  readonly callerTools: ReadonlySet<string>;
  readonly echo: JsonObject;
}

/** The owner of the logs of shown legs. */
export interface LegKeeper {
  log(): LegLog;
  now(): number;
  keep(turn: RunningTurn, leg: number): void;
  drop(turn: RunningTurn): void;
}

/** A turn that is shown: its parts are turned into legs once, however many clients read them. */
export class RunningTurn {
  readonly thread: HostedThread;
  readonly number: number;
  readonly legs: Map<number, ShownLeg> = new Map();
  readonly output: TurnOutput;
  readonly #turn: TurnToShow;
  readonly #keeper: LegKeeper;
  readonly #ends: Map<number, PromiseWithResolvers<void>> = new Map<number, PromiseWithResolvers<void>>();
  #end: { readonly outcome: TurnOutcome | null; readonly at: number; readonly usage: TokenFigures | null } | null =
    null;
  /** The usage before the present leg. */
  #before: TokenFigures | null = null;
  /** The legs that callers wait for, by number. */
  readonly #awaited = new Map<number, PromiseWithResolvers<ShownLeg | null>>();
  #isFollowed = false;
  /** The newest step of the ended legs. Its parts may come again. */
  #known = 0;

  constructor(turn: TurnToShow, keeper: LegKeeper) {
    this.#turn = turn;
    this.#keeper = keeper;
    this.thread = turn.thread;
    this.number = turn.number;
    this.output = new TurnOutput({ threadId: turn.thread.id, turn: turn.number }, turn.callerTools, {
      begun: (leg) => this.#begin(leg),
      event: (leg, event) => this.legs.get(leg)?.log.add(event),
      ended: (leg) => this.#seal(leg),
    });
  }

  /** The id of one of its asks. */
  get askId(): string {
    return this.#turn.askId;
  }

  get isFollowed(): boolean {
    return this.#isFollowed;
  }

  /** Resolves to a leg when it starts; to null if the turn ends without showing it. */
  leg(number: number): Promise<ShownLeg | null> {
    const shown = this.legs.get(number);
    if (shown !== undefined) return Promise.resolve(shown);
    const awaited = this.#awaited.get(number) ?? withoutWarning<ShownLeg | null>();
    this.#awaited.set(number, awaited);
    return awaited.promise;
  }

  /** Applies parts that were shown earlier or elsewhere. Legs that ended then are not shown again. */
  prime(parts: Iterable<TurnPart>, used: TokenFigures | null): void {
    this.#before = used;
    for (const part of parts) if (part.type !== "turn.ended") this.output.apply(part);
    for (const [leg, { log }] of this.legs) {
      if (leg === this.output.leg && this.output.isUnderWay) continue;
      this.legs.delete(leg);
      this.#ends.delete(leg);
      log.lose();
    }
    this.#known = this.output.knownThrough;
  }

  /**
   * Shows the parts of a handle until the turn ends, or until it waits for an outside answer and no caller awaits a
   * later leg. Parts that were shown before may come again.
   */
  follow(parts: AsyncIterable<TurnPart>, handle: AskHandle): void {
    this.#isFollowed = true;
    void this.#follow(parts, handle)
      .catch((thrown: unknown) => this.#fail(thrown))
      .finally(() => {
        if (this.legs.size === 0) this.#keeper.drop(this);
      });
  }

  /** Starts the leg after an answered one at once: its first part may take a while. */
  goOnBehind(leg: number): void {
    if (this.#isFollowed && this.output.leg === leg && !this.output.isUnderWay) this.output.apply({ type: "answered" });
  }

  async #follow(parts: AsyncIterable<TurnPart>, handle: AskHandle): Promise<void> {
    let isCatchingUp = this.#known > 0;
    for await (const part of parts) {
      if ("step" in part && part.type !== "replay.started") isCatchingUp = part.step <= this.#known;
      if (isCatchingUp && !mayComeAgain.has(part.type)) continue;
      if (part.type === "turn.ended") this.#end = await this.#endOf(handle);
      // One part may start a leg and end it, if a call's approval is requested again.
      else if (mayEndLeg.has(part.type)) this.#end = await this.#waitOf();
      const { leg } = this.output;
      const wasUnderWay = this.output.isUnderWay;
      this.output.apply(
        part.type === "replay.started" ? { ...part, step: Math.max(part.step, this.#known + 1) } : part,
      );
      if (part.type === "turn.ended") break;
      if (this.output.isUnderWay || (!wasUnderWay && this.output.leg === leg)) continue;
      this.#known = this.output.knownThrough;
      if (this.#awaited.size > 0) continue;
      // Set it before any other code runs: a caller that awaits a leg from here on follows the turn again.
      this.#isFollowed = false;
      return;
    }
    this.#stop(({ resolve }) => resolve(null));
  }

  /** Stops following, and settles the waits for later legs. */
  #stop(settle: (awaited: PromiseWithResolvers<ShownLeg | null>) => void): void {
    this.#isFollowed = false;
    for (const awaited of this.#awaited.values()) settle(awaited);
    this.#awaited.clear();
  }

  async #endOf(handle: AskHandle) {
    const usage = await handle.then(
      (result) => result.usage,
      (thrown: unknown) => (thrown instanceof TurnError ? thrown.summary.usage : null),
    );
    const asked = await this.#turn.thread.asked(this.#turn.askId);
    return {
      outcome: asked?.outcome ?? null,
      at: asked?.endedAt ?? this.#keeper.now(),
      usage: usage === null ? null : figuresOf(usage),
    };
  }

  async #waitOf() {
    const open = (await this.#turn.thread.state())?.context;
    const usage = open?.open?.number === this.number ? figuresOf(open.open.usage) : null;
    return { outcome: null, at: open?.updatedAt ?? this.#keeper.now(), usage };
  }

  #begin(leg: number): void {
    const { thread, number, startedAt, echo } = this.#turn;
    const ended = withoutWarning<void>();
    this.#ends.set(leg, ended);
    const place = { threadId: thread.id, turn: number, leg };
    const createdAt = leg === 1 ? startedAt : this.#keeper.now();
    const facts: LegFacts = { place, echo, createdAt, endedAt: null, outcome: null, items: [], usage: null };
    const shown: ShownLeg = { facts, log: this.#keeper.log(), ended: ended.promise };
    this.legs.set(leg, shown);
    const response = responseObject(facts);
    shown.log.add({ type: "response.created", response });
    shown.log.add({ type: "response.in_progress", response });
    this.#awaited.get(leg)?.resolve(shown);
    this.#awaited.delete(leg);
  }

  #seal(leg: number): void {
    const shown = this.legs.get(leg);
    const end = this.#end;
    if (shown === undefined || end === null) return;
    const usage = figuresSince(end.usage, this.#before);
    this.#before = end.usage;
    shown.facts = { ...shown.facts, endedAt: end.at, outcome: end.outcome, items: this.output.items, usage };
    for (const event of endEventsOf(shown.facts)) shown.log.add(event);
    shown.log.end();
    this.#ends.get(leg)?.resolve();
    this.#ends.delete(leg);
    this.#keeper.keep(this, leg);
  }

  /** Rejects the waits for legs and fails the readers, since the host failed to continue. */
  #fail(thrown: unknown): void {
    this.#stop(({ reject }) => reject(thrown));
    const why = thrown instanceof Error ? thrown : new Error(String(thrown));
    for (const [leg, ended] of this.#ends) {
      ended.reject(why);
      this.legs.get(leg)?.log.lose(why);
      this.legs.delete(leg);
    }
    this.#ends.clear();
    // Drop the half-applied turn; the next reader starts it again from the journal.
    this.#keeper.drop(this);
  }
}

/** Returns the last events of a leg's stream. */
export const endEventsOf = (facts: LegFacts): readonly LegEvent[] => {
  const status = statusOf(facts);
  const type = status === "completed" || status === "failed" ? `response.${status}` : "response.incomplete";
  const end = { type, response: responseObject(facts) };
  return status === "failed" && facts.outcome !== null
    ? [{ type: "error", param: null, ...errorOf(facts.outcome) }, end]
    : [end];
};

/** Creates a promise whose rejection needs no handler. */
const withoutWarning = <Value>(): PromiseWithResolvers<Value> => {
  const made = Promise.withResolvers<Value>();
  made.promise.catch(() => {});
  return made;
};

const mayEndLeg: ReadonlySet<TurnPart["type"]> = new Set(["toolResult", "approval.requested", "result.requested"]);
const mayComeAgain: ReadonlySet<TurnPart["type"]> = new Set([...mayEndLeg, "turn.ended"]);
