import { type Part } from "../src/index.ts";
import {
  type Counter,
  type HistoryTurn,
  keepAll,
  type Policy,
  type PolicyDecision,
  type PolicyInput,
  type SummaryWanted,
} from "../src/policies.ts";

/** Counts a token for each character of texts, arguments and results; everything else costs nothing. */
export const characterCounter: Counter = {
  name: "characters",
  version: 1,
  options: {},
  perMessage: 0,
  perPrompt: 0,
  countPart: (part) => charactersOf(part),
};

const charactersOf = (part: Part): number => {
  if (part.type === "text") return part.text.length;
  if (part.type === "toolCall") return part.name.length + part.arguments.length;
  return part.type === "toolResult" ? part.content.reduce((total, inner) => total + charactersOf(inner), 0) : 0;
};

/** The room for requests for summaries, since some tests have too little room for an instruction. */
const requestTokens = 4_000;

export interface RollingOptions {
  /** The closed turns that are never summarised. Default 1. */
  readonly keep?: number;
  /** Default 1,000. */
  readonly maxTokens?: number;
  /** `full`: only if the prompt would not fit. Default `always`. */
  readonly when?: "always" | "full";
  /** The failures after which a turn is given up. Default 2. */
  readonly failures?: number;
  /** If an awaited summary fails, `drop` hides the turns that it was to cover. Default `keep`. */
  readonly without?: "keep" | "drop";
}

/** Summarises all closed turns except the newest into one summary, and leaves out nothing else. */
export const rolling = (options: RollingOptions = {}): Policy => {
  const { keep = 1, maxTokens = 1_000, when = "always", failures = 2, without = "keep" } = options;
  return {
    name: "rolling",
    version: 1,
    options: { keep, maxTokens, when, failures, without },
    monotone: false,
    stable: true,
    decide: (input) => {
      const turns = oldestFirst(input);
      const shown = showing(turns);
      const last = turns.at(-1 - keep);
      if (without === "keep" || !input.withoutSummary || last === undefined || fits(input, shown)) return shown;
      return { from: { turn: last.number + 1, unit: 0 }, pressed: true, reason: "no summary came" };
    },
    summariser: {
      instruction: "Sum it up.",
      model: { name: "small" },
      maxTokens,
      requestTokens,
      next: (input) => {
        const turns = oldestFirst(input);
        return when === "full" && fits(input, showing(turns)) ? null : wanted(turns, keep, failures);
      },
    },
  };
};

/** Shows everything, and orders only the summaries that a function returns. */
export const asking = (next: (input: PolicyInput) => SummaryWanted | null): Policy => ({
  ...keepAll(),
  name: "asking",
  summariser: { instruction: "Sum it up.", model: {}, maxTokens: 1_000, requestTokens, next },
});

const fits = ({ available, measure }: PolicyInput, decision: PolicyDecision): boolean =>
  available === null || measure(decision) <= available;

const oldestFirst = ({ history }: PolicyInput): readonly HistoryTurn[] => [...history.newestFirst()].reverse();

const showing = (turns: readonly HistoryTurn[]): PolicyDecision => {
  const last = coveredUpTo(turns);
  const [oldest] = turns;
  if (last === undefined || oldest === undefined) return { from: null, reason: "nothing is summarised" };
  return {
    from: { turn: last + 1, unit: 0 },
    summarised: { from: oldest.number, to: last },
    reason: `summarised up to turn ${last}`,
  };
};

const wanted = (turns: readonly HistoryTurn[], keep: number, failures: number): SummaryWanted | null => {
  const [oldest] = turns;
  const last = turns.at(-1 - keep);
  // The seed can't have a summary.
  if (oldest === undefined || last === undefined || last.number === 0) return null;
  if (last.summaryFailures >= failures) return null;
  const covered = coveredUpTo(turns);
  if (covered !== undefined && covered >= last.number) return null;
  return {
    covers: { from: oldest.number, to: last.number },
    earlier: covered === undefined ? null : { from: oldest.number, to: covered },
  };
};

const coveredUpTo = (turns: readonly HistoryTurn[]): number | undefined =>
  turns.findLast(({ summaries }) => summaries.some(({ from }) => from === turns[0]?.number))?.number;
