/**
 * The limits within which a policy shows what fits, newest first. Without any it fills the room. It shows
 * nothing beyond them, except pinned units and the open turn.
 */
export interface NewestFirst {
  /** How many of the newest turns. Those in which nothing was said count, and the seed is the oldest. */
  readonly turns?: Window;
  /** How many of the newest messages, those of the open turn counted. */
  readonly messages?: Window;
  /** A room of its own, less what it leaves free for the answer. Unit: tokens, as models report them. */
  readonly tokens?: number;
  /** The part of the machine's budget that it leaves free, if that is more than the machine leaves. Unit: tokens. */
  readonly reserve?: number;
  /** The least share of the room for closed turns that it fills, above 0 and at most 1: a policy that cuts seldom shows more most of the time. */
  readonly share?: number;
}

/** The size of a window: exactly so many; or the least that it shows in any case, and the most that it ever shows. */
export type Window = number | readonly [least: number, most: number];

/** The least and the most that a window shows. */
export const boundsOf = (window: Window): readonly [least: number, most: number] =>
  typeof window === "number" ? [window, window] : window;

/** The window with these bounds. */
export const windowOf = (least: number, most: number): Window => (least === most ? least : [least, most]);

/** What several policies can claim together: nothing where one of them claims nothing, else the narrowest of all limits. */
export const newestFirstOf = (claims: readonly (boolean | NewestFirst | undefined)[]): boolean | NewestFirst => {
  let together: NewestFirst = {};
  for (const claim of claims) {
    if (claim === undefined || claim === false) return false;
    if (claim !== true) together = narrower(together, claim);
  }
  return Object.keys(together).length === 0 ? true : together;
};

const narrower = (left: NewestFirst, right: NewestFirst): NewestFirst => ({
  ...left,
  ...right,
  ...inBoth(left.turns, right.turns, (one, other) => ({ turns: narrowerWindow(one, other) })),
  ...inBoth(left.messages, right.messages, (one, other) => ({ messages: narrowerWindow(one, other) })),
  ...inBoth(left.tokens, right.tokens, (one, other) => ({ tokens: Math.min(one, other) })),
  ...inBoth(left.reserve, right.reserve, (one, other) => ({ reserve: Math.max(one, other) })),
  ...inBoth(left.share, right.share, (one, other) => ({ share: Math.min(one, other) })),
});

const inBoth = <Limit>(
  left: Limit | undefined,
  right: Limit | undefined,
  both: (one: Limit, other: Limit) => NewestFirst,
): NewestFirst => (left === undefined || right === undefined ? {} : both(left, right));

const narrowerWindow = (one: Window, other: Window): Window => {
  const [[least, most], [otherLeast, otherMost]] = [boundsOf(one), boundsOf(other)];
  return windowOf(Math.min(least, otherLeast), Math.min(most, otherMost));
};
