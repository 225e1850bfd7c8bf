import { toArray } from "../../thread/chunks.ts";
import { changeTurn } from "../../thread/path.ts";
import type { Turn } from "../../thread/turn.ts";
import type { ConversationData } from "../protocol/data.ts";

/** What stands in the place of words that were taken out. */
export const redactedText = "[redacted]";

/**
 * Words were taken out of the journal: summaries of them say nothing any more, and are shown no more, and what
 * was measured was measured of other words. The words themselves go with the entries that are rewritten: fold those.
 */
export const redactData = (data: ConversationData): ConversationData => {
  const after = data.measured === null ? data : { ...data, measured: null };
  if (data.summaries === 0) return after;
  const conversation = toArray(data.conversation.turns)
    .filter(({ summaries }) => summaries?.some(({ text, stale }) => saysNothing(text) && stale !== true) === true)
    .reduce((thread, { number }) => changeTurn(thread, number, withdrawn), data.conversation);
  return { ...after, conversation };
};

/** A summary may have been written in several parts. */
const saysNothing = (text: string): boolean =>
  text.includes(redactedText) && text.replaceAll(redactedText, "").trim() === "";

const withdrawn = (turn: Turn): Turn => ({
  ...turn,
  summaries:
    turn.summaries?.map((summary) => (saysNothing(summary.text) ? { ...summary, stale: true } : summary)) ?? [],
});
