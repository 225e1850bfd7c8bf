import * as Either from "fp-ts/lib/Either.js";
import { isAwaited } from "../conversation/awaited.ts";
import type { Entry, LaterEntry } from "../conversation/entry.ts";
import { formatOf, neededFormat } from "../conversation/format.ts";
import { outstanding } from "../conversation/outstanding.ts";
import type { State } from "../conversation/state.ts";
import type { JournalError } from "./fold.ts";
import { foldTelling } from "./fold.ts";

/**
 * The first entry of a journal that `fold` would pass over, so that what it tells would be lost: an answer that nobody
 * waited for when it came, an ask of which nobody decided what becomes of it, an event that needs a newer format than the
 * journal had. Null where there is none, as in every journal that a machine wrote; of one that is none the place where it
 * ends to be one.
 */
export const lostEventIn = (entries: readonly Entry[]): JournalError | null => {
  let lost: JournalError | null = null;
  const folded = foldTelling(entries, (entry, before) => {
    const reason = lost === null ? problemOf(entry, before) : null;
    if (reason !== null) lost = { seq: entry.seq, reason };
  });
  return lost ?? (Either.isLeft(folded) ? folded.left : null);
};

const problemOf = ({ event, decided = {} }: LaterEntry, before: State): string | null => {
  const data = before.context;
  const format = formatOf(data);
  if (neededFormat(event.type) > format)
    return `"${event.type}" needs format ${neededFormat(event.type)}, and the journal has format ${format} here`;
  if (event.type === "ask.received") {
    const { queued, joins, interrupts } = decided;
    return data.open !== null && queued === undefined && joins !== true && interrupts !== true
      ? `"ask.received" (ask "${event.askId}") came while another was answered, and nothing was decided about it`
      : null;
  }
  if (isAwaited(data, event) || !("effectId" in event)) return null;
  const awaited = outstanding(before).map(({ id }) => `"${id}"`);
  return `"${event.type}" answers "${event.effectId}", and nobody waited for that; out was ${awaited.join(", ") || "nothing"}`;
};
