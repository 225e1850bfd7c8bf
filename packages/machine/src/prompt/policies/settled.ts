import { isOlder, type Start } from "../position.ts";

/**
 * Where a window with hysteresis begins: it stays where the last cut was, so that providers' prompt caches hold,
 * until it would show too much, and then shows much less. Asked again, it answers the same.
 *
 * A cut that shows even less (the head was moved, the budget grew) is no reason to stay: it begins as a new thread does.
 */
export const settled = ({
  last,
  most,
  least,
}: {
  /** Where the last cut was. */
  readonly last: Start;
  /** Where the most begins that it may show. */
  readonly most: Start;
  /** Where what it shows after a cut begins. */
  readonly least: Start;
}): Start => {
  if (isOlder(last, most)) return least;
  if (isOlder(least, last)) return most === null ? null : least;
  return last;
};
