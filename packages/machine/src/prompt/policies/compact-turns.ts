import { type TurnRange } from "../cut.ts";
import { behind, nowhere } from "../unit.ts";
import type { History, HistoryTurn, Policy, PolicyDecision, PolicyInput, SummaryWanted } from "../policy.ts";
import { checkCount, checkShare } from "./check-options.ts";
import { fits } from "./fits.ts";
import { mostSummaryFailures, rollingInstruction, summaryOptions, type SummaryOptions } from "./summary-options.ts";
import { tokenWindow } from "./token-window.ts";

export interface CompactTurnsOptions extends SummaryOptions {
  /** The number of newest closed turns that stay unchanged. Fewer stay only if they do not fit the room. Default 4. */
  readonly keepTurns?: number;
  /** The share of the room from which older turns are summarised, from 0 to 1. Default 0.8. */
  readonly at?: number;
}

/**
 * Shows older turns as one summary. When the prompt is full again, a model writes a new one from the last summary and
 * the turns since. It is written in the background. The answer waits for it only if the next prompt does not fit
 * without the summary, and would fit with it.
 *
 * The oldest turns that do not fit are left out while the summaries of a long thread catch up. They are also left out
 * after two failures: then no answer waits, and a summary is tried again every few turns. Without a budget nothing is
 * ever full. `maxTokens` is 1,000 by default.
 *
 * @throws ConfigurationError if `keepTurns` is not a whole number ≥ 0, `at` is not a share, or another option is
 * invalid.
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
    // A larger room may hold the summary, which then replaces whole turns.
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

/** The turns that the newest summary covers, and the turns since, newest first. */
interface Compaction {
  readonly covered: TurnRange | null;
  readonly since: readonly HistoryTurn[];
}

/** A summary of a single turn, unless it is the oldest turn, was written for another policy. */
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

/**
 * Returns whether a prompt will fit with the wanted summary. A thread that needs several summaries would wait in vain,
 * so it is shown as a window until they have caught up.
 */
const wouldFit = ({ measure }: PolicyInput, available: number, { covers }: SummaryWanted, maxTokens: number): boolean =>
  measure({ from: behind(covers.to) }) + roomOfSummary(maxTokens, available) <= available;

/** Returns the expected size of a summary. In a small room it is less than its maximum. */
const roomOfSummary = (maxTokens: number, available: number): number => Math.min(maxTokens, Math.ceil(available / 4));

const reasonFor = ({ covered }: Compaction): string =>
  covered === null ? "nothing is summarised yet" : `summarised up to turn ${covered.to}`;

/** Shows the newest turns since the summary that fit, or a window of the thread if the summary is too large. */
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

/** Covers the oldest closed turns up to the kept ones, as far as a model can read them at once. */
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

/** Returns the number of turns that stay if not all fit. */
const keptWithin = (since: readonly HistoryTurn[], keepTurns: number, room: number): number =>
  Math.max(0, Math.min(countWithin(since.slice(0, keepTurns), room), since.length - fewest(since)));

/** Returns the least turns that a summary covers. The seed needs the turn after it, which keeps the summary. */
const fewest = (since: readonly HistoryTurn[]): number => (since.at(-1)?.number === 0 ? 2 : 1);

const countWithin = (
  turns: readonly HistoryTurn[],
  room: number,
  tokens: (turn: HistoryTurn) => number = (turn) => turn.tokens(),
): number => {
  let left = room;
  const over = turns.findIndex((turn) => (left -= tokens(turn)) < 0);
  return over < 0 ? turns.length : over;
};

const failuresIn = ({ since }: Compaction): number => since.reduce((total, turn) => total + turn.summaryFailures, 0);

/** After two failures, one more attempt is made for each so many waiting turns. */
const turnsToTryAgain = 4;

/** Halves the range of the next summary if summaries up to the last turn failed more often. */
const lastToTry = (oldestFirst: readonly HistoryTurn[]): HistoryTurn | undefined => {
  let best: HistoryTurn | undefined;
  for (let length = oldestFirst.length; length > 0; length = Math.floor(length / 2)) {
    const turn = oldestFirst[length - 1];
    // The seed cannot keep a summary.
    if (turn === undefined || turn.number === 0) continue;
    if (best === undefined || turn.summaryFailures < best.summaryFailures) best = turn;
  }
  return best;
};

const tokensOfRequest = ({ counter, history }: PolicyInput, instruction: string, earlier: TurnRange | null): number =>
  counter.perPrompt +
  2 * counter.perMessage +
  counter.countPart({ type: "text", text: instruction }) +
  (earlier === null ? 0 : history.summaryTokens(earlier));

/** Returns the tokens of a turn in the request, including pinned messages. */
const transcriptTokens = (turn: HistoryTurn, { counter, count }: PolicyInput): number =>
  turn
    .units()
    .flatMap(({ messages }) => messages)
    .reduce((total, message) => total + count(message), counter.countPart({ type: "text", text: headings }));

const headings = "Turn 1,000,000 (completed)\nInput:\n\nOutput:\n\nTool use:\nNone\n\n";
