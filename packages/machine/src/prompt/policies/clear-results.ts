import type { Cut } from "../cut.ts";
import { behind, isOlder, nowhere, type Unit, type UnitPosition } from "../unit.ts";
import type { Policy, PolicyDecision, PolicyInput } from "../policy.ts";
import { shortestShrink, type Shrink } from "../shrink.ts";
import { checkCount, checkKeys, checkWord } from "./check-options.ts";
import { fits, newestClosed, openUnits } from "./fits.ts";

export interface ClearResultsOptions {
  /** The number of newest rounds that keep their results, including the open turn. Default 3. */
  readonly keep?: number;
  /**
   * The number of further rounds that may pass before older ones are cleared again, so that the prompt's beginning
   * changes seldom. Default 0.
   */
  readonly slack?: number;
  /** `pressed`: only if the whole thread does not fit the room. Default `pressed`. */
  readonly when?: "pressed" | "always";
}

/**
 * Replaces older tool results with a mark; calls and other messages stay. A result that is hardly longer than a mark
 * stays too. So do the results of the open turn's newest round, which the model has not seen.
 *
 * Stable with slack.
 *
 * @throws ConfigurationError if a number is not a whole number ≥ 0, or `when` is another word.
 */
export const clearResults = (options: ClearResultsOptions = {}): Policy => {
  checkKeys("clearResults", options, ["keep", "slack", "when"]);
  const { keep = 3, slack = 0, when = "pressed" } = options;
  checkCount("clearResults({ keep })", keep);
  checkCount("clearResults({ slack })", slack);
  checkWord("clearResults({ when })", when, ["pressed", "always"]);
  const pressed = when === "pressed";
  return {
    name: "clear-results",
    version: 1,
    options: { keep, slack, when },
    // With more room, results are shown whole, so a later window shows fewer of them. With slack, more history may
    // trigger a clearing, and then results are shorter.
    monotone: !pressed && slack === 0,
    stable: slack > 0,
    newestFirst: true,
    decide: (input) => {
      if (pressed && fits(input)) return { from: null, reason: "the whole thread fits" };
      const before = clearBefore(input, keep, slack, pressed);
      if (before === null) return { from: null, reason: `no more than ${keep} rounds have results` };
      return {
        from: null,
        shrink: [clearing(before)],
        pressed,
        reason: `results older than those of the last ${keep} rounds are cleared`,
      } satisfies PolicyDecision;
    },
  };
};

const clearing = (before: UnitPosition): Shrink => ({
  rule: "clear",
  of: "toolResults",
  characters: shortestShrink,
  before,
});

/**
 * Returns the position before which results are cleared; null for nothing to clear. It keeps the last cut's position
 * while the rounds since are within the slack, and while clearing more would not help.
 */
const clearBefore = (input: PolicyInput, keep: number, slack: number, pressed: boolean): UnitPosition | null => {
  const { history, lastCut } = input;
  const unseen = openUnits(history).some(({ kind }) => kind === "round") ? 1 : 0;
  const kept = Math.max(keep, unseen);
  const newest = newestRounds(input, kept + slack + 1);
  if (newest.length <= kept) return null;
  const last = clearedBefore(lastCut);
  const since = last === null ? newest.length : newest.filter((round) => !isOlder(round, last)).length;
  const mayStay = last !== null && since >= kept && since <= kept + slack;
  const doesFit = (before: UnitPosition): boolean => fits(input, { shrink: [clearing(before)] });
  if (mayStay && (!pressed || doesFit(last))) return last;
  if (last === null && !pressed && newest.length <= kept + slack) return null;
  const anew = newest[kept - 1] ?? behind(newestClosed(history));
  // The thread is too long either way, and a later policy cuts it, so the prompt's beginning need not change.
  return mayStay && !doesFit(anew) ? last : anew;
};

const clearedBefore = (cut: Cut | null): UnitPosition | null =>
  cut?.shrink?.find(({ rule, of }) => rule === "clear" && of === "toolResults")?.before ?? null;

/** Returns at most `most` newest rounds, newest first, up to turns that do not fit even with results cleared. */
const newestRounds = ({ history, available, measure }: PolicyInput, most: number): readonly UnitPosition[] => {
  const rounds: UnitPosition[] = [];
  const add = (units: readonly Unit[]): void => {
    for (const { kind, turn, position } of units.toReversed()) {
      if (kind === "round" && rounds.length < most) rounds.push({ turn, unit: position });
    }
  };
  const overflows = (turn: number): boolean =>
    available !== null && measure({ from: { turn, unit: 0 }, shrink: [clearing(nowhere)] }) > available;
  let read = 0;
  let next = 8;
  add(openUnits(history));
  for (const turn of history.newestFirst()) {
    if (rounds.length >= most) break;
    add(turn.units());
    if (++read < next) continue;
    if (overflows(turn.number)) break;
    next *= 2;
  }
  return rounds;
};
