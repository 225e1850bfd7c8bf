/**
 * Within which limits a policy shows what fits, newest first. Without any it fills the room. A limit says what it shows
 * in any case: a policy that cuts seldom shows more most of the time.
 */
export interface NewestFirst {
  /** How many of the newest turns. Those in which nothing was said count, and the seed is the oldest. */
  readonly turns?: number;
  /** How many of the newest messages, those of the open turn counted. */
  readonly messages?: number;
  /** A room of its own, less what it leaves free for the answer. Unit: tokens, as models report them. */
  readonly tokens?: number;
  /** A share of the room for closed turns, above 0 and at most 1. */
  readonly share?: number;
}

/** What several policies can claim together: nothing where one of them claims nothing, else the narrowest of all limits. */
export const newestFirstOf = (claims: readonly (boolean | NewestFirst | undefined)[]): boolean | NewestFirst => {
  let together: NewestFirst = {};
  for (const claim of claims) {
    if (claim === undefined || claim === false) return false;
    if (claim !== true) together = narrower(together, claim);
  }
  return Object.keys(together).length === 0 ? true : together;
};

const narrower = (left: NewestFirst, right: NewestFirst): NewestFirst => {
  const limits = (["turns", "messages", "tokens", "share"] as const).flatMap((name) => {
    const given = [left[name] ?? [], right[name] ?? []].flat();
    return given.length === 0 ? [] : [[name, Math.min(...given)] as const];
  });
  return Object.fromEntries(limits);
};
