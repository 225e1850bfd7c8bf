import { isOlder, type Start } from "../unit.ts";

/**
 * Returns the start of a window with hysteresis. It stays at the last cut, so that providers' prompt caches hold,
 * until it would show too much. Then it shows much less. Asked again, it gives the same result.
 *
 * The window does not stay at a cut that shows even less than that, after the head moved or the budget grew. It then
 * starts as in a new thread.
 */
export const settled = ({
  last,
  most,
  least,
}: {
  /** The start of the last cut. */
  readonly last: Start;
  /** The start of the largest window that it may show. */
  readonly most: Start;
  /** The start of the window after a cut. */
  readonly least: Start;
}): Start => {
  if (isOlder(last, most)) return least;
  if (isOlder(least, last)) return most === null ? null : least;
  return last;
};
