import type { HistoryTurn, Policy, PolicyDecision, PolicyInput, SummaryWanted } from "../policy.ts";
import { behind, nowhere } from "../unit.ts";
import { checkCount } from "./check-options.ts";
import { mostSummaryFailures, summaryOptions, type SummaryOptions, turnInstruction } from "./summary-options.ts";

export interface SummariseTurnsOptions extends SummaryOptions {
  /**
   * The number of newest closed turns that are shown at all; the seed counts as the oldest. 0 shows none. Default 20.
   */
  readonly maxTurns?: number;
  /** The number of newest turns among them that are shown unchanged. Default 0. */
  readonly keepTurns?: number;
}

/**
 * Shows earlier turns as numbered summaries, one line each. After each turn a model writes its summary, concise or
 * verbose: of its input, output and tool use, with the earlier summaries as background. A turn is shown unchanged
 * until its summary arrives. After two failures it is shown as a line made by rule, so a failing summariser costs no
 * answer. If even that does not fit the room, the oldest turns are left out. `maxTokens` is 300 by default, and 1,000
 * for verbose summaries.
 *
 * @throws ConfigurationError if a number is not a whole number, or another option is invalid.
 */
export const summariseTurns = (given: SummariseTurnsOptions = {}): Policy => {
  const { maxTurns = 20, keepTurns = 0 } = given;
  checkCount("summariseTurns({ maxTurns })", maxTurns);
  checkCount("summariseTurns({ keepTurns })", keepTurns);
  const options = summaryOptions("summariseTurns", given, {
    instruction: turnInstruction,
    maxTokens: { concise: 300, verbose: 1_000 },
  });
  const { instruction, model, maxTokens, requestTokens, waitMs } = options;
  const most = requestTokens === undefined ? { maxTokens } : { maxTokens, requestTokens };
  return {
    name: "summarise-turns",
    version: 1,
    options: { ...options, maxTurns, keepTurns },
    // After a window policy, more history may give more lines, which displace whole turns.
    monotone: false,
    stable: false,
    decide: (input) => decide(input, maxTurns, keepTurns),
    summariser: {
      instruction,
      model,
      ...most,
      waitMs,
      next: ({ history }) => (keepTurns < maxTurns ? nextTurn([...newest(history, maxTurns * 2)], maxTurns) : null),
    },
  };
};

const decide = (input: PolicyInput, maxTurns: number, keepTurns: number): PolicyDecision => {
  const { history, available, measure, withoutSummary } = input;
  const newestFirst = [...newest(history, maxTurns + 1)];
  const turns = newestFirst.slice(0, maxTurns);
  const waiting = withoutSummary ? 0 : turns.findLastIndex((turn, index) => index >= keepTurns && wants(turn)) + 1;
  const whole = Math.max(keepTurns, waiting);
  const reason = `the last ${maxTurns} turns are shown, those older than the last ${whole} as summaries`;
  const decision = showing(turns, whole, newestFirst.length > turns.length);
  if (available === null || waiting > 0 || measure(decision) <= available) return { ...decision, reason };
  const most = largest(turns.length, (count) => measure(showing(turns.slice(0, count), whole, true)) <= available);
  return {
    ...showing(turns.slice(0, most), whole, true),
    pressed: true,
    reason: `there is room for the last ${most} turns, those older than the last ${whole} as summaries`,
  };
};

/** Shows turns, newest first: the first `whole` of them unchanged and the rest as lines. */
const showing = (
  turns: readonly HistoryTurn[],
  whole: number,
  olderLeftOut: boolean,
): Pick<PolicyDecision, "from" | "summarised"> => {
  const asLines = turns.slice(whole);
  const [newestLine] = asLines;
  const oldestLine = asLines.at(-1);
  const oldestWhole = turns.slice(0, whole).at(-1);
  if (newestLine !== undefined && oldestLine !== undefined) {
    return {
      from: oldestWhole === undefined ? behind(newestLine.number) : { turn: oldestWhole.number, unit: 0 },
      summarised: { from: oldestLine.number, to: newestLine.number },
    };
  }
  if (!olderLeftOut) return { from: null };
  return { from: oldestWhole === undefined ? nowhere : { turn: oldestWhole.number, unit: 0 } };
};

/** Returns the oldest turn that needs a summary, with up to `maxTurns` earlier turns as background. */
const nextTurn = (turns: readonly HistoryTurn[], maxTurns: number): SummaryWanted | null => {
  const index = turns.slice(0, maxTurns).findLastIndex(wants);
  const turn = turns[index];
  if (turn === undefined) return null;
  const before = turns.slice(index + 1, index + 1 + maxTurns);
  const [last] = before;
  const first = before.at(-1);
  return {
    covers: { from: turn.number, to: turn.number },
    earlier: first === undefined || last === undefined ? null : { from: first.number, to: last.number },
  };
};

/** Returns whether a turn needs a summary. The seed cannot have one, and an empty turn needs none. */
const wants = ({ number, length, summaries, summaryFailures }: HistoryTurn): boolean =>
  number > 0 && length > 0 && summaryFailures < mostSummaryFailures && !summaries.some(({ from }) => from === number);

function* newest({ newestFirst }: PolicyInput["history"], most: number): Generator<HistoryTurn, void, void> {
  let seen = 0;
  for (const turn of newestFirst()) {
    if (seen++ >= most) return;
    yield turn;
  }
}

/** Returns the largest count below a bound that passes, if all smaller ones pass too; 0 if none does. */
const largest = (below: number, passes: (count: number) => boolean): number => {
  let low = 0;
  let high = below - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (passes(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
};
