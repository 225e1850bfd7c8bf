import type { Cut } from "../cut.ts";
import { isOlder, nowhere, questionIn, type Unit, type UnitPosition } from "../unit.ts";
import { newestFittingOf, withNewestFitting } from "../history.ts";
import type { History, HistoryTurn, PolicyInput } from "../policy.ts";
import { isCutOff, showing, type Showing, showUnit, showUnits, type Shrinker } from "../render.ts";
import { appliesAt, clearedUntil, type Shrink } from "../shrink.ts";
import { isEverything, mergedDecision, type Shown } from "./merged-decision.ts";
import { openUnits } from "./fits.ts";

/**
 * Returns the input of a policy that decides after others: the history that they leave, and prompts measured with
 * their decision. A turn of which they leave nothing still counts as one.
 */
export const inputUnder = (input: PolicyInput, decided: Shown): PolicyInput => {
  if (isEverything(decided)) return input;
  const { pressed: _, summarised: __, ...shown } = decided;
  const cut: Cut = { ...shown, policy: "", interrupted: "keep" };
  const { history, measure } = input;
  return {
    ...input,
    history: shortcutUnder(history, decided, {
      newestFirst: () => newestFirst(input, cut),
      fixed: () => fixedUnder(history, cut, input.shrink),
      fixedTokens: () =>
        leavesFixed(decided)
          ? history.fixedTokens()
          : measure(mergedDecision(decided, { from: nowhere })) - leadOfOpen(input, cut),
      lead: (from, isShown) => leadUnder(input, cut, from, isShown),
      summaryTokens: history.summaryTokens,
    }),
    measure: (decision) => measure(mergedDecision(decided, decision)),
  };
};

/** Reuses the shortcut of a history that only begins later and is otherwise unchanged. */
const shortcutUnder = (history: History, decided: Shown, under: History): History => {
  const { from } = decided;
  const newestFitting = newestFittingOf(history);
  if (newestFitting === undefined || !isEverything({ ...decided, from: null })) return under;
  return withNewestFitting(under, (tokens) => {
    const fitting = newestFitting(tokens);
    return isOlder(from, fitting) ? fitting : null;
  });
};

function* newestFirst(input: PolicyInput, cut: Cut): Generator<HistoryTurn, void, void> {
  const how = showing(cut, input.shrink);
  for (const turn of input.history.newestFirst()) {
    if (cut.from !== null && turn.number < cut.from.turn) return;
    // The known values of an unchanged turn still hold.
    yield turn.number >= how.wholeFrom ? turn : new TurnUnder(turn, how, input);
  }
}

/** The rest of a turn, computed on demand. Its functions do not depend on `this`. */
class TurnUnder implements HistoryTurn {
  readonly number: number;
  readonly interrupted: boolean;
  readonly summaries: HistoryTurn["summaries"];
  readonly summaryFailures: number;
  readonly units: () => readonly Unit[];
  readonly tokens: () => number;

  constructor(turn: HistoryTurn, how: Showing, { count }: PolicyInput) {
    this.number = turn.number;
    this.interrupted = turn.interrupted;
    this.summaries = turn.summaries;
    this.summaryFailures = turn.summaryFailures;
    let left: readonly Unit[] | null = null;
    this.units = () => (left ??= unitsUnder(turn, how));
    this.tokens = () => {
      let tokens = 0;
      for (const { pinned, messages } of this.units()) {
        if (pinned !== true) for (const message of messages) tokens += count(message);
      }
      return tokens;
    };
  }

  get length(): number {
    return this.units().reduce((total, { messages }) => total + messages.length, 0);
  }
}

/** Returns the units of a turn that earlier decisions leave. Units pinned before the cut count as fixed. */
const unitsUnder = (turn: HistoryTurn, how: Showing): readonly Unit[] => {
  const units = turn.units();
  const question = questionIn(turn.number, units);
  const shown = units.map((unit) => (isBefore(unit, how.cut) ? [] : showUnit(unit, how)));
  // If nothing is left after the cut, a question that is pinned before it is not needed.
  const inFull = shown.some(({ length }) => length > 0) ? showUnits(turn.number, units, how) : shown;
  return units.flatMap((unit, at) => {
    const messages = (unit === question ? inFull : shown)[at] ?? [];
    return messages.length === 0 ? [] : [{ ...unit, messages }];
  });
};

const isBefore = ({ turn, position }: Unit, cut: Cut): boolean => isCutOff({ turn, unit: position }, cut);

/** A question of which earlier decisions leave nothing leads no prompt: one before it does. */
const leadUnder = (
  { history, shrink }: PolicyInput,
  { from: _, dropped: __, ...cut }: Cut,
  from: UnitPosition,
  isShown: (unit: Unit) => boolean = () => true,
): Unit | null => {
  const how = showing({ ...cut, from: null }, shrink);
  const under = (unit: Unit): Unit => ({ ...unit, messages: showUnit(unit, how) });
  const lead = history.lead(from, (unit) => {
    const left = under(unit);
    return left.messages.length > 0 && isShown(left);
  });
  return lead === null ? null : under(lead);
};

/** Returns the tokens of the question that leads the open turn, if nothing else is shown. */
const leadOfOpen = (input: PolicyInput, cut: Cut): number => {
  const lead = leadUnder(input, cut, nowhere);
  return lead === null ? 0 : lead.messages.reduce((tokens, message) => tokens + input.count(message), 0);
};

const leavesFixed = ({ shrink, system, summarised }: Shown): boolean =>
  shrink === undefined && system === undefined && summarised === undefined;

const fixedUnder = (history: History, { system, shrink: rules = [] }: Cut, shrink: Shrinker): readonly Unit[] => {
  const fixed = history.fixed();
  if (system === undefined && rules.length === 0) return fixed;
  const open = openUnits(history);
  const turn = open[0]?.turn;
  // The machine applies rules in the same way.
  const inForce = rules.map((rule): Shrink =>
    rule.rule === "clear" && turn !== undefined
      ? { ...rule, before: clearedUntil(rule.before ?? nowhere, turn, () => open) }
      : rule,
  );
  return fixed.flatMap((unit) => {
    if (isSystem(unit)) return system === undefined ? [unit] : [];
    if (unit.pinned === true || unit.turn !== turn) return [unit];
    const position = { turn: unit.turn, unit: unit.position };
    const applying = inForce.filter((rule) => appliesAt(rule, position));
    if (applying.length === 0) return [unit];
    return [{ ...unit, messages: unit.messages.map((message) => shrink(message, applying)) }];
  });
};

const isSystem = (unit: Unit): boolean => unit.turn === 0 && unit.pinned !== true;
