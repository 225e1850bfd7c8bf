import type { Message } from "../thread/message.ts";
import { PathWalk, type Thread, turnOf } from "../thread/thread.ts";
import { toArray } from "../thread/chunks.ts";
import type { Turn } from "../thread/turn.ts";
import type { Counts } from "./counts.ts";
import type { SummarisedTurns } from "./cut.ts";
import {
  type InterruptedTurns,
  isAside,
  needsQuestion,
  isLeftOut,
  type Pins,
  questionIn,
  questionsBefore,
  type Start,
  type Unit,
  type UnitPosition,
  unitsOf,
} from "./unit.ts";
import { newestWithin, type Weights } from "./newest-units.ts";
import type { History, HistoryTurn } from "./policy.ts";
import { pinnedUnits, pinsOf, type PromptParts } from "./render.ts";
import { summaryMessage } from "./summary-message.ts";

/** The sources of a history. `open` and `isOpen` are called only if the policy reads the open turn. */
export interface HistorySource extends PromptParts {
  readonly interrupted: InterruptedTurns;
  readonly counts: Counts;
}

/** Returns the closed turns of a thread as a policy sees them. */
export const historyOf = (source: HistorySource): History => {
  const { thread, counts, interrupted } = source;
  const pins = pinsOf(thread, interrupted);
  const fixed = (): readonly Unit[] => fixedUnits(source, pins);
  const history: History = {
    newestFirst: () => new NewestFirst(source, pins),
    fixed,
    fixedTokens: () => counts.prompt(messagesOf(fixed())),
    lead: (from, isShown) => leadOf(source, pins, from, isShown),
    summaryTokens: (turns) => {
      const message = summaryMessage(thread, { summarised: allOf(turns), interrupted });
      return message === null ? 0 : counts.message(message);
    },
  };
  return withNewestFitting(history, (tokens) => newestRunsWithin(source, pins, tokens));
};

/** Returns the turns with all of their summaries in force. */
const allOf = (turns: { readonly from: number; readonly to: number }): SummarisedTurns => ({
  from: turns.from,
  to: turns.to,
  upTo: Number.MAX_SAFE_INTEGER,
});

/** Iterates over the turns, with the seed last. A class, for the same reason as the iterator of the path. */
class NewestFirst implements IterableIterator<HistoryTurn, void> {
  readonly #source: HistorySource;
  readonly #pins: Pins;
  readonly #walk: PathWalk;
  #seedIsLeft: boolean;

  constructor(source: HistorySource, pins: Pins, walk: PathWalk = new PathWalk(source.thread)) {
    this.#source = source;
    this.#pins = pins;
    this.#walk = walk;
    this.#seedIsLeft = source.thread.seed.length > 0;
  }

  next(): IteratorResult<HistoryTurn, void> {
    const { counts, thread } = this.#source;
    for (let { turn } = this.#walk; turn !== undefined; { turn } = this.#walk) {
      this.#walk.step();
      if (!isLeftOut(turn, this.#source))
        return { done: false, value: new ClosedTurn(turn, this.#pins.get(turn.number), counts) };
    }
    if (!this.#seedIsLeft) return { done: true, value: undefined };
    this.#seedIsLeft = false;
    return { done: false, value: seedOf(thread, this.#pins, counts) };
  }

  [Symbol.iterator](): this {
    return this;
  }
}

/** Steps over whole runs as long as they fit, then over single turns, and splits only the turn on the boundary. */
const newestRunsWithin = (source: HistorySource, pins: Pins, tokens: number): Start => {
  const { thread, counts, interrupted } = source;
  const walk = new PathWalk(thread);
  const lead = (start: UnitPosition): number => {
    const unit = leadOf(source, pins, start);
    return unit === null ? 0 : tokensOf(counts, unit);
  };
  const weights: Weights = {
    turn: (turn) => turn.tokens(),
    unit: (unit) => (unit.pinned === true ? 0 : tokensOf(counts, unit)),
    lead,
  };
  let left = tokens;
  let oldest: UnitPosition | null = null;
  for (let { turn } = walk; turn !== undefined && pins.size === 0; { turn } = walk) {
    const run = walk.isAtEnd ? walk.straightRun() : undefined;
    if (run !== undefined && (interrupted === "keep" || counts.together(run).completed)) {
      const sums = counts.run(run);
      const from = sums.findIndex((sum) => sum <= left);
      if (from >= 0) {
        left -= sums[from] ?? 0;
        oldest = { turn: walk.runFrom + from, unit: 0 };
        walk.leave(from);
        continue;
      }
    }
    if (!isLeftOut(turn, source)) {
      const weight = counts.turn(turn);
      if (weight > left) break;
      left -= weight;
      oldest = { turn: turn.number, unit: 0 };
    }
    walk.step();
  }
  const boundary = walk.turn?.number ?? 0;
  const from = newestWithin(new NewestFirst(source, pins, walk), left, weights);
  if (from === null || oldest === null || from.turn <= boundary) return from;
  // Nothing of the boundary turn fits, so the window begins with the oldest whole turn.
  if (lead(oldest) <= left) return oldest;
  return newestWithin(new NewestFirst(source, pins), tokens, weights);
};

/** Returns the question that leads a window; null if a pinned message of the exchange precedes the window. */
const leadOf = (
  { thread, interrupted, open, isOpen }: HistorySource,
  pins: Pins,
  from: UnitPosition,
  isShown: (question: Unit) => boolean = () => true,
): Unit | null => {
  const isPinnedBefore = (turn: number): boolean =>
    turn < from.turn && pinnedUnits(thread, pins, turn).some((unit) => !isAside(unit));
  if ([...pins.keys()].some(isPinnedBefore)) return null;
  const closed = turnOf(thread, from.turn);
  const isNext = from.turn > thread.turns.length;
  const messages =
    from.turn === 0 ? thread.seed : isNext ? open() : toArray(closed?.messages ?? { length: 0, levels: [] });
  // Most turns begin with their question.
  if (from.unit === 0 && messages[0]?.role === "user") return null;
  const units = unitsOf(from.turn, messages, pins.get(from.turn));
  if (units.slice(0, from.unit).some((unit) => unit.pinned === true && !isAside(unit))) return null;
  // Between turns the question is still to come.
  const silent = isNext && !isOpen() ? undefined : { turn: from.turn, position: from.unit };
  const first = units.slice(from.unit).find((unit) => !isAside(unit)) ?? silent;
  if (first === undefined || ("messages" in first && !needsQuestion(first))) return null;
  if (questionIn(from.turn, units.slice(0, first.position)) !== undefined) return null;
  for (const unit of questionsBefore(thread, first, interrupted)) if (isShown(unit)) return unit;
  return null;
};

/**
 * A turn as a policy sees it. One is created for each turn that a policy reads, so the rest is computed on demand. Its
 * functions do not depend on `this`.
 */
class ClosedTurn implements HistoryTurn {
  readonly number: number;
  readonly #turn: Turn;
  readonly #pins: ReadonlySet<string> | undefined;
  readonly #counts: Counts;

  constructor(turn: Turn, pins: ReadonlySet<string> | undefined, counts: Counts) {
    this.number = turn.number;
    this.#turn = turn;
    this.#pins = pins;
    this.#counts = counts;
  }

  get interrupted(): boolean {
    return this.#turn.outcome.status !== "completed";
  }

  get length(): number {
    return this.#turn.messages.length;
  }

  get units(): () => readonly Unit[] {
    return () => unitsOf(this.number, toArray(this.#turn.messages), this.#pins);
  }

  get tokens(): () => number {
    return () =>
      this.#pins === undefined ? this.#counts.turn(this.#turn) : unpinnedTokens(this.#counts, this.units());
  }

  get summaries(): HistoryTurn["summaries"] {
    return this.#turn.summaries?.filter(({ stale }) => stale !== true) ?? noSummaries;
  }

  get summaryFailures(): number {
    return this.#turn.summaryFailures ?? 0;
  }
}

const noSummaries: HistoryTurn["summaries"] = Object.freeze([]);

const seedOf = (thread: Thread, pins: Pins, counts: Counts): HistoryTurn => {
  const units = (): readonly Unit[] => unitsOf(0, thread.seed, pins.get(0));
  return {
    number: 0,
    interrupted: false,
    length: thread.seed.length,
    units,
    tokens: () => unpinnedTokens(counts, units()),
    summaries: [],
    summaryFailures: 0,
  };
};

const unpinnedTokens = (counts: Counts, units: readonly Unit[]): number =>
  units.reduce((total, unit) => (unit.pinned === true ? total : total + tokensOf(counts, unit)), 0);

const tokensOf = (counts: Counts, { messages }: Unit): number =>
  messages.reduce((total, message) => total + counts.message(message), 0);

/** Returns the units that are always shown. Appended messages count as the beginning of the next turn. */
const fixedUnits = ({ thread, system, open }: HistorySource, pins: Pins): readonly Unit[] => {
  const next = thread.turns.length + 1;
  return [
    ...(system === null ? [] : unitsOf(0, [system])),
    ...(pins.size === 0 ? [] : [...pins.keys()].filter((turn) => turn < next)).flatMap((turn) =>
      pinnedUnits(thread, pins, turn),
    ),
    ...unitsOf(next, open(), pins.get(next)),
  ];
};

/** A loop, because each prompt calls it and `flatMap` takes several times as long. */
const messagesOf = (units: readonly Unit[]): readonly Message[] => {
  const all: Message[] = [];
  for (const { messages } of units) for (const message of messages) all.push(message);
  return all;
};

/** Returns the start of the newest units that together take at most so many tokens; null if all fit. */
export type NewestFitting = (tokens: number) => Start;

/**
 * Returns a history's shortcut, which gives the same result as counting turn by turn, only faster. Returns undefined
 * if it has none. The shortcut is not part of the type, and copies of a history lose it. It would not know which turns
 * a copy left out or added.
 */
export const newestFittingOf = (history: History): NewestFitting | undefined => WithShortcut.of(history);

/** Returns the same history with a shortcut. */
export const withNewestFitting = (history: History, newestFitting: NewestFitting): History =>
  new WithShortcut(history, newestFitting);

/** A history with a shortcut in a private member, which copies cannot have. */
class WithShortcut implements History {
  readonly newestFirst: History["newestFirst"];
  readonly fixed: History["fixed"];
  readonly fixedTokens: History["fixedTokens"];
  readonly lead: History["lead"];
  readonly summaryTokens: History["summaryTokens"];
  readonly #newestFitting: NewestFitting;

  constructor({ newestFirst, fixed, fixedTokens, lead, summaryTokens }: History, newestFitting: NewestFitting) {
    this.newestFirst = newestFirst;
    this.fixed = fixed;
    this.fixedTokens = fixedTokens;
    this.lead = lead;
    this.summaryTokens = summaryTokens;
    this.#newestFitting = newestFitting;
  }

  static of(history: History): NewestFitting | undefined {
    return #newestFitting in history ? history.#newestFitting : undefined;
  }
}
