import { toArray } from "../thread/chunks.ts";
import type { Message } from "../thread/message.ts";
import { turnsNewestFirst } from "../thread/path.ts";
import type { Thread } from "../thread/thread.ts";
import type { Turn } from "../thread/turn.ts";
import type { Counts } from "./counts.ts";
import type { InterruptedTurns, SummarisedTurns } from "./cut.ts";
import type { History, HistoryTurn } from "./policy.ts";
import type { Pins } from "./render.ts";
import { isLeftOut, pinnedUnits, pinsOf } from "./render.ts";
import { summaryMessage } from "./summary-message.ts";
import type { Unit } from "./unit.ts";
import { unitsOf } from "./unit.ts";

/** What a history is made of. `open` is asked only by policies that look at it. */
export interface HistorySource {
  readonly thread: Thread;
  readonly system: Message | null;
  readonly open: () => readonly Message[];
  readonly interrupted: InterruptedTurns;
  readonly counts: Counts;
}

/** The closed turns of a thread as a policy sees them. */
export const historyOf = (source: HistorySource): History => {
  const { thread, counts, interrupted } = source;
  const pins = pinsOf(thread);
  const fixed = (): readonly Unit[] => fixedUnits(source, pins);
  return {
    newestFirst: () => newestFirst(source, pins),
    fixed,
    fixedTokens: () => fixed().reduce((total, unit) => total + tokensOf(counts, unit), counts.counter.perPrompt),
    summaryTokens: (turns) => {
      const message = summaryMessage(thread, { summarised: allOf(turns), interrupted });
      return message === null ? 0 : counts.message(message);
    },
  };
};

/** Turns as all summaries that there are tell them. */
export const allOf = (turns: { readonly from: number; readonly to: number }): SummarisedTurns => ({
  from: turns.from,
  to: turns.to,
  upTo: Number.MAX_SAFE_INTEGER,
});

function* newestFirst({ thread, interrupted, counts }: HistorySource, pins: Pins): Generator<HistoryTurn, void, void> {
  for (const turn of turnsNewestFirst(thread)) {
    if (!isLeftOut(turn, { interrupted })) yield closedTurn(turn, pins.get(turn.number), counts);
  }
  if (thread.seed.length > 0) yield seedOf(thread, pins, counts);
}

/** Made for each turn that a policy looks at, so it is kept small. */
const closedTurn = (turn: Turn, pins: ReadonlySet<string> | undefined, counts: Counts): HistoryTurn => {
  const units = (): readonly Unit[] => unitsOf(turn.number, toArray(turn.messages), pins);
  return {
    number: turn.number,
    interrupted: turn.outcome.status !== "completed",
    length: turn.messages.length,
    units,
    tokens: () => (pins === undefined ? counts.turn(turn) : unpinnedTokens(counts, units())),
    summaries: turn.summaries?.filter(({ stale }) => stale !== true) ?? noSummaries,
    summaryFailures: turn.summaryFailures ?? 0,
  };
};

const noSummaries: HistoryTurn["summaries"] = [];

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

/** Between turns, what was appended is what the next turn begins with. */
const fixedUnits = ({ thread, system, open }: HistorySource, pins: Pins): readonly Unit[] => {
  const next = thread.turns.length + 1;
  return [
    ...(system === null ? [] : unitsOf(0, [system])),
    ...[...pins.keys()].filter((turn) => turn < next).flatMap((turn) => pinnedUnits(thread, pins, turn)),
    ...unitsOf(next, open(), pins.get(next)),
  ];
};
