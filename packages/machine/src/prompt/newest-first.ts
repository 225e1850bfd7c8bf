/**
 * The limits within which a policy shows as much as fits, newest first. Without any it fills the room. It shows
 * nothing beyond them, except pinned units and the open turn.
 */
export interface NewestFirst {
  /** The number of newest turns. Empty turns count, and the seed is the oldest turn. */
  readonly turns?: Window;
  /** The number of newest messages, including the open turn. */
  readonly messages?: Window;
  /** The policy's own room, without the part that it reserves for the answer. Unit: tokens, as models report them. */
  readonly tokens?: number;
  /**
   * The part of the machine's budget that the policy keeps free, if it exceeds the machine's reserve. Unit: tokens.
   */
  readonly reserve?: number;
  /**
   * The least share of the room for closed turns that it fills, above 0 and at most 1. A policy that cuts seldom
   * usually shows more.
   */
  readonly share?: number;
}

/** The size of a window: an exact number, or the least that it always shows and the most that it ever shows. */
export type Window = number | readonly [least: number, most: number];

/** Returns the least and the most that a window shows. */
export const boundsOf = (window: Window): readonly [least: number, most: number] =>
  typeof window === "number" ? [window, window] : window;

/** Returns the window with these bounds. */
export const windowOf = (least: number, most: number): Window => (least === most ? least : [least, most]);

/** Combines the claims of several policies: no claim if one of them claims nothing, otherwise the narrowest limits. */
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
