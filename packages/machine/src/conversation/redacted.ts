import { toArray } from "../thread/chunks.ts";
import { changeTurn } from "../thread/path.ts";
import type { Turn } from "../thread/turn.ts";
import type { ConversationData } from "./data.ts";

/** What stands in the place of words that were taken out. */
export const redactedText = "[redacted]";

/**
 * Words were taken out of the journal: summaries that told of them say nothing any more, and are shown no more, and what
 * was measured was measured of other words. The words themselves are gone with the entries, which is for folding to find.
 */
export const redactData = (data: ConversationData): ConversationData => {
  const after = data.measured === null ? data : { ...data, measured: null };
  if (data.summaries === 0) return after;
  const conversation = toArray(data.conversation.turns)
    .filter(saysNothing)
    .reduce((thread, { number }) => changeTurn(thread, number, withdrawn), data.conversation);
  return { ...after, conversation };
};

const saysNothing = ({ summaries }: Turn): boolean =>
  summaries?.some(({ text, stale }) => text === redactedText && stale !== true) === true;

const withdrawn = (turn: Turn): Turn => ({
  ...turn,
  summaries:
    turn.summaries?.map((summary) => (summary.text === redactedText ? { ...summary, stale: true } : summary)) ?? [],
});
