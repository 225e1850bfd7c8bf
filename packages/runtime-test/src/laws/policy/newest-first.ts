import type { NewestFirst, Unit } from "@colloquy/machine/policies";
import { roomOf } from "./fitting.ts";
import { LawBroken } from "../evidence/law-broken.ts";
import { cutNamed, type Look, lookNamed, type PolicyLaw, type PolicyRun } from "./policy-run.ts";
import { fixedIn, messagesIn, tokensOf, wholeOf, withGapsFilled, withoutLeftOut } from "../evidence/said-units.ts";

/**
 * P11, of policies that are declared `newestFirst`: what fits is shown, newest first. No unit is left out while an older
 * one that is not pinned is shown; and the newest turn of which something is left out would not fit as a whole, into
 * the room or within the limits that the policy declares. It is counted as it was said, without what a rule makes
 * shorter. Turns that are left out because they were interrupted are no part of it.
 */
export const newestIsShownFirst: PolicyLaw = (run) => {
  const { newestFirst = false } = run.policy;
  if (newestFirst === false) return;
  const limits = newestFirst === true ? {} : newestFirst;
  for (const { looks, calibration } of run.views) {
    for (const look of looks) {
      // What the machine shows in the policy's place is none of its decisions.
      if (look.prompt.failed !== undefined) continue;
      const said = withoutLeftOut(withGapsFilled(look.said, look.prompt.messages), run.options);
      requireNewestFirst(run, { ...look, said }, limits, calibration);
    }
  }
};

const requireNewestFirst = (run: PolicyRun, look: Look, limits: NewestFirst, calibration: number): void => {
  const fail = (words: string): never => {
    throw new LawBroken("P11", `${lookNamed(look)}: ${words}; ${cutNamed(look)}`);
  };
  const units = look.said.closed;
  const ids = new Set(look.prompt.messages.map(({ id }) => id));
  const isShown = ({ messages }: Unit): boolean => messages.some(({ id }) => ids.has(id));
  const newest = units.findLastIndex((unit) => unit.pinned !== true && !isShown(unit));
  const leftOut = units[newest];
  if (leftOut === undefined) return;
  const older = units.slice(0, newest).find((unit) => unit.pinned !== true && isShown(unit));
  if (older !== undefined) fail(`unit ${leftOut.id} is left out, and unit ${older.id}, which is older, is shown`);
  const from = units.findIndex(({ turn }) => turn === leftOut.turn);
  if (!isWithinCounts(look, limits, units.slice(from))) return;
  const tokens = tokensWith(run, look, from);
  if (tokens === null) return;
  const room = roomWithin(run, look, limits, calibration);
  if (room === null || tokens <= room)
    fail(
      `${leftOut.turn === 0 ? "the seed" : `turn ${leftOut.turn}`} is not shown whole, and would fit${room === null ? "" : `: ${tokens} tokens of ${room}`}`,
    );
};

/** Whether some of the newest units, and the open turn, are no more turns and messages than are shown in any case. */
const isWithinCounts = ({ said }: Look, { turns, messages }: NewestFirst, units: readonly Unit[]): boolean => {
  const first = units[0]?.turn ?? 0;
  // A turn in which nothing was said counts too.
  const newer = [...said.turns.keys()].filter((number) => number >= first).length;
  const count = first === 0 ? newer + 1 : newer;
  const all = messagesIn([...units, ...said.open]).length;
  return count <= (turns ?? count) && all <= (messages ?? all);
};

/** Tokens of a prompt that shows all closed units from one on, as they were said; null where the counter can't count them. */
const tokensWith = ({ counter }: PolicyRun, { said }: Look, from: number): number | null =>
  tokensOf(
    counter,
    wholeOf({ ...said, closed: said.closed.filter(({ pinned }, index) => index >= from || pinned === true) }),
  );

/** Tokens that may be filled in any case: of the room for what is closed, the share that is declared. Null for no bound. */
const roomWithin = (
  { counter }: PolicyRun,
  look: Look,
  { tokens, share = 1 }: NewestFirst,
  calibration: number,
): number | null => {
  const room = roomOf(look.budget, calibration);
  const own = tokens === undefined ? null : Math.floor(tokens / calibration);
  const smaller = room === null || own === null ? (room ?? own) : Math.min(room, own);
  if (smaller === null || share === 1) return smaller;
  const fixed = tokensOf(counter, fixedIn(look.said)) ?? 0;
  return fixed + (smaller - fixed) * share;
};
