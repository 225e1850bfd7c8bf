import { ConfigurationError } from "../configuration-error.ts";
import type { Policy, PolicyInput } from "../policy.ts";
import { isOlder, nowhere, type Start, type Unit } from "../unit.ts";
import { type NewestFirst, newestFirstOf } from "../newest-first.ts";
import { newestFittingOf } from "../history.ts";
import { newestMeasured, newestWithin, type Weights } from "../newest-units.ts";
import { checkCount, checkKeys, checkShare } from "./check-options.ts";
import { settled } from "./settled.ts";

export interface TokenWindowOptions {
  /**
   * The tokens of a prompt with its answer, at most the machine's budget. Default: that budget; without one,
   * everything is shown.
   */
  readonly tokens?: number;
  /**
   * The part of the tokens that is kept free for the answer; at least the machine's reserve if its budget is the
   * smaller one. Default 0.
   */
  readonly reserve?: number;
  /**
   * The share of the room for closed turns that is filled after a cut, above 0. Below 1, the prompt's beginning then
   * stays the same until the room is full again. Default 1.
   */
  readonly cutTo?: number;
}

/**
 * Shows as many of the newest units as fit, without a gap. When the room grows, it shows more. The cost is that of the
 * shown part, however long the thread is.
 *
 * A cut to a share of the room still shows the newest unit, if that fits at all.
 *
 * @throws ConfigurationError for tokens that are not whole or below 0, a reserve above `tokens`, and an invalid share.
 */
export const tokenWindow = (options: TokenWindowOptions = {}): Policy => {
  checkKeys("tokenWindow", options, ["tokens", "reserve", "cutTo"]);
  const { tokens = null, reserve = 0, cutTo = 1 } = options;
  checkCount("tokenWindow({ tokens })", tokens ?? 0);
  checkCount("tokenWindow({ reserve })", reserve);
  checkShare("tokenWindow({ cutTo })", cutTo, true);
  if (tokens !== null && reserve > tokens) {
    throw new ConfigurationError(
      `tokenWindow({ reserve }) is ${reserve}, more than tokens, which are ${tokens}; give at most those`,
    );
  }
  return {
    name: "token-window",
    version: 1,
    options: { tokens, reserve, cutTo },
    // Below 1, more history may trigger a cut, which shows less. For one history, more room always shows more.
    monotone: cutTo === 1,
    stable: cutTo < 1,
    newestFirst: claimOf(tokens, reserve, cutTo),
    decide: (input) => {
      const room = roomOf(input, tokens, reserve);
      if (room === null) return { from: null, reason: "there is no budget" };
      const { spare, newest } = windowOf(input, room);
      const most = newest(spare);
      const from =
        cutTo === 1
          ? most
          : settled({
              last: input.lastCut?.from ?? null,
              most,
              least: withNewestUnit(input, newest(spare * cutTo), most),
            });
      if (from === null) return { from, reason: `all fits into ${room} tokens` };
      return { from, reason: `older than what fits into ${room} tokens`, ...(most === null ? {} : { pressed: true }) };
    },
  };
};

const claimOf = (tokens: number | null, reserve: number, cutTo: number): boolean | NewestFirst =>
  newestFirstOf([
    tokens === null ? reserve === 0 || { reserve } : { tokens: tokens - reserve },
    cutTo === 1 || { share: cutTo },
  ]);

/** Returns the tokens that a prompt may hold: the smaller of the policy's room and the machine's. */
const roomOf = (
  { available, budget, calibration }: PolicyInput,
  tokens: number | null,
  reserve: number,
): number | null => {
  const whole = tokens ?? budget?.tokens;
  if (whole === undefined) return available;
  return Math.min(available ?? Number.POSITIVE_INFINITY, Math.max(0, Math.floor((whole - reserve) / calibration)));
};

/** Returns the room for closed turns, and what finds the start of the newest units that fit into part of it. */
const windowOf = (
  input: PolicyInput,
  room: number,
): { readonly spare: number; readonly newest: (tokens: number) => Start } => {
  const { history, counter, count, measure } = input;
  if (counter.countPrompt !== undefined) {
    const fixed = measure({ from: nowhere });
    const newest = (tokens: number): Start =>
      newestMeasured(history.newestFirst(), (from) => measure({ from }) <= fixed + tokens);
    return { spare: room - fixed, newest };
  }
  const tokensOf = ({ messages, pinned }: Pick<Unit, "pinned" | "messages">): number =>
    pinned === true ? 0 : messages.reduce((total, message) => total + count(message), 0);
  const weights: Weights = {
    turn: (turn) => turn.tokens(),
    unit: tokensOf,
    lead: (from) => tokensOf(history.lead(from) ?? nothing),
  };
  const newest = newestFittingOf(history) ?? ((tokens) => newestWithin(history.newestFirst(), tokens, weights));
  // A prompt of the open turn alone has this question too, and every window shows its own instead.
  const lead = weights.lead(nowhere);
  return { spare: room - history.fixedTokens() - lead, newest: (tokens) => newest(tokens + lead) };
};

const nothing: Pick<Unit, "pinned" | "messages"> = { messages: [] };

/** Returns the start after a cut, which shows at least the newest unit if there is room for it. */
const withNewestUnit = ({ history }: PolicyInput, least: Start, most: Start): Start => {
  for (const turn of history.newestFirst()) {
    const unit = turn.units().at(-1);
    if (unit === undefined) continue;
    const start = { turn: unit.turn, unit: unit.position };
    return isOlder(start, least) && !isOlder(start, most) ? start : least;
  }
  return least;
};
