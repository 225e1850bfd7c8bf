import type { TurnRange } from "../cut.ts";
import type { History, HistoryTurn, Policy, PolicyDecision, PolicyInput, SummaryWanted } from "../policy.ts";
import { behind, nowhere } from "../position.ts";
import { checkCount, checkShare } from "./check-options.ts";
import { fits } from "./fits.ts";
import { rollingInstruction } from "./summary-instructions.ts";
import { mostSummaryFailures, summaryOptions, type SummaryOptions } from "./summary-options.ts";
import { tokenWindow } from "./token-window.ts";

export interface CompactTurnsOptions extends SummaryOptions {
  /** How many of the newest closed turns stay as they are; fewer only where they do not fit the room. Default 4. */
  readonly keepTurns?: number;
  /** The share of the room from which on the older turns are summarised, from 0 to 1. Default 0.8. */
  readonly at?: number;
}

/**
 * Shows older turns as one summary, which a model writes anew when the prompt has grown full again: of the summary
 * before it and of the turns since. It is written in the background; the answer waits only when the next prompt does
 * not fit without it, and would with it. The oldest turns that do not fit are left out while the summaries of a long
 * thread have not caught up, and when two have failed: then no answer waits any more, and a summary is tried again
 * every few turns. Without a budget
 * nothing is ever full. `maxTokens` is 1,000 by default.
 *
 * @throws ConfigurationError when `keepTurns` is no whole number of 0 or more, `at` is no share, or another option
 *   is invalid.
 */
export const compactTurns = (given: CompactTurnsOptions = {}): Policy => {
  const { keepTurns = 4, at = 0.8 } = given;
  checkCount("compactTurns({ keepTurns })", keepTurns);
  checkShare("compactTurns({ at })", at);
  const options = summaryOptions("compactTurns", given, {
    instruction: rollingInstruction,
    maxTokens: { concise: 1_000, verbose: 1_000 },
  });
  const { instruction, model, maxTokens, requestTokens, waitMs } = options;
  const most = requestTokens === undefined ? { maxTokens } : { maxTokens, requestTokens };
  const next = (input: PolicyInput): SummaryWanted | null =>
    nextSummary(input, { keepTurns, at, instruction, maxTokens });
  return {
    name: "compact-turns",
    version: 1,
    options: { ...options, keepTurns, at },
    // A larger room may hold the summary, which then takes the place of whole turns.
    monotone: false,
    stable: at > 0,
    decide: (input) => {
      const { available, withoutSummary } = input;
      const compacted = compactionOf(input.history);
      const whole = showing(compacted);
      if (available === null || fitsInto(available, input, compacted))
        return { ...whole, reason: reasonFor(compacted) };
      const mayWait = !withoutSummary && failuresIn(compacted) < mostSummaryFailures;
      const wanted = mayWait ? next(input) : null;
      if (wanted !== null && wouldFit(input, available, wanted, maxTokens))
        return { ...whole, reason: reasonFor(compacted) };
      return windowed(input, available, compacted);
    },
    summariser: { instruction, model, ...most, waitMs, next },
  };
};

/** The turns that the newest summary covers, and those that came since, newest first. */
interface Compaction {
  readonly covered: TurnRange | null;
  readonly since: readonly HistoryTurn[];
}

/** Reads only the turns since the newest summary. One of a single turn, unless it is the oldest, was written for another policy. */
const compactionOf = (history: History): Compaction => {
  const since: HistoryTurn[] = [];
  for (const turn of history.newestFirst()) {
    const from = Math.min(...turn.summaries.map((summary) => summary.from));
    if (from < turn.number) return { covered: { from, to: turn.number }, since };
    since.push(turn);
  }
  const oldest = since.at(-1);
  if (oldest === undefined || oldest.summaries.length === 0) return { covered: null, since };
  return { covered: { from: oldest.number, to: oldest.number }, since: since.slice(0, -1) };
};

const showing = ({ covered, since }: Compaction): Pick<PolicyDecision, "from" | "summarised"> => {
  if (covered === null) return { from: null };
  const oldest = since.at(-1);
  return {
    from: oldest === undefined ? behind(covered.to) : { turn: oldest.number, unit: 0 },
    summarised: covered,
  };
};

const fitsInto = (tokens: number, input: PolicyInput, compacted: Compaction): boolean =>
  compacted.covered === null ? fits(input, {}, tokens) : input.measure(showing(compacted)) <= tokens;

/** Whether a prompt fits once a summary is there. A thread that is far behind would wait for several, in vain: it is shown as a window until they have caught up. */
const wouldFit = ({ measure }: PolicyInput, available: number, { covers }: SummaryWanted, maxTokens: number): boolean =>
  measure({ from: behind(covers.to) }) + roomOfSummary(maxTokens, available) <= available;

/** What a summary is taken to need: in a small room not all that it may take. */
const roomOfSummary = (maxTokens: number, available: number): number => Math.min(maxTokens, Math.ceil(available / 4));

const reasonFor = ({ covered }: Compaction): string =>
  covered === null ? "nothing is summarised yet" : `summarised up to turn ${covered.to}`;

/** What fits of the turns since the summary, or of the whole thread where the summary takes too much room itself. */
const windowed = (input: PolicyInput, available: number, compacted: Compaction): PolicyDecision => {
  const { history, measure } = input;
  const { covered, since } = compacted;
  if (covered === null || measure({ from: nowhere, summarised: covered }) > available) {
    return { ...tokenWindow().decide(input), pressed: true };
  }
  const { from: floor } = showing(compacted);
  const { from, reason } = tokenWindow().decide({
    ...input,
    history: {
      ...history,
      newestFirst: () => since,
      fixedTokens: () => history.fixedTokens() + history.summaryTokens(covered),
    },
    measure: (decision) => measure({ ...decision, from: decision.from ?? floor, summarised: covered }),
  });
  return { from: from ?? floor, summarised: covered, pressed: true, reason: `${reasonFor(compacted)}; ${reason}` };
};

/** What to summarise next: the oldest turns that have ended, up to those that are kept, as far as a model can read them at once. */
const nextSummary = (
  input: PolicyInput,
  options: {
    readonly keepTurns: number;
    readonly at: number;
    readonly instruction: string;
    readonly maxTokens: number;
  },
): SummaryWanted | null => {
  const { available, measure } = input;
  if (available === null) return null;
  const expected = roomOfSummary(options.maxTokens, available);
  const compacted = compactionOf(input.history);
  if (fitsInto(options.at * available, input, compacted)) return null;
  const { covered, since } = compacted;
  const room = available - measure({ from: nowhere }) - expected;
  const kept = fitsInto(available, input, compacted) ? options.keepTurns : keptWithin(since, options.keepTurns, room);
  const older = since.slice(kept).toReversed();
  const request = tokensOfRequest(input, options.instruction, covered) + expected;
  const readable = countWithin(older, available - request, (turn) => transcriptTokens(turn, input));
  const end = lastToTry(older.slice(0, Math.max(fewest(since), readable)));
  if (end === undefined || failuresIn(compacted) >= mostSummaryFailures + older.length / turnsToTryAgain) return null;
  const from = covered?.from ?? since.at(-1)?.number ?? end.number;
  return { covers: { from, to: end.number }, earlier: covered };
};

/** How many turns stay where not all fit. */
const keptWithin = (since: readonly HistoryTurn[], keepTurns: number, room: number): number =>
  Math.max(0, Math.min(countWithin(since.slice(0, keepTurns), room), since.length - fewest(since)));

/** How many turns a summary covers at least: the seed only with the turn after it, which keeps the summary. */
const fewest = (since: readonly HistoryTurn[]): number => (since.at(-1)?.number === 0 ? 2 : 1);

/** How many of some turns, from the first on, take no more than there is. */
const countWithin = (
  turns: readonly HistoryTurn[],
  room: number,
  tokens: (turn: HistoryTurn) => number = (turn) => turn.tokens(),
): number => {
  let left = room;
  const over = turns.findIndex((turn) => (left -= tokens(turn)) < 0);
  return over < 0 ? turns.length : over;
};

/** How often summaries failed since the newest one. */
const failuresIn = ({ since }: Compaction): number => since.reduce((total, turn) => total + turn.summaryFailures, 0);

/** When two have failed, one more is tried for each so many turns that wait for it: what ails the model may pass. */
const turnsToTryAgain = 4;

/** The last turn, or one half as far where summaries up to it failed more often: a shorter one may do. */
const lastToTry = (oldestFirst: readonly HistoryTurn[]): HistoryTurn | undefined => {
  let best: HistoryTurn | undefined;
  for (let length = oldestFirst.length; length > 0; length = Math.floor(length / 2)) {
    const turn = oldestFirst[length - 1];
    // The seed can't keep a summary.
    if (turn === undefined || turn.number === 0) continue;
    if (best === undefined || turn.summaryFailures < best.summaryFailures) best = turn;
  }
  return best;
};

/** What the model reads beside the turns. */
const tokensOfRequest = ({ counter, history }: PolicyInput, instruction: string, earlier: TurnRange | null): number =>
  counter.perPrompt +
  2 * counter.perMessage +
  counter.countPart({ type: "text", text: instruction }) +
  (earlier === null ? 0 : history.summaryTokens(earlier));

/** A turn as the model reads it, what is pinned included; its headings are shorter than these. */
const transcriptTokens = (turn: HistoryTurn, { counter, count }: PolicyInput): number =>
  turn
    .units()
    .flatMap(({ messages }) => messages)
    .reduce((total, message) => total + count(message), counter.countPart({ type: "text", text: headings }));

const headings = "Turn 1,000,000 (completed)\nInput:\n\nOutput:\n\nTool use:\nNone\n\n";
