import { toArray } from "../../thread/chunks.ts";
import { changeTurn } from "../../thread/path.ts";
import type { Turn } from "../../thread/turn.ts";
import type { ConversationData } from "../protocol/data.ts";
import { redactedText } from "../protocol/form.ts";

/**
 * Applies a redaction to the data. Summaries of redacted content become stale and are no longer shown. The measured
 * size is dropped, since it was measured on the old content. The content itself is removed by rewriting its entries
 * and folding them.
 */
export const redactData = (data: ConversationData): ConversationData => {
  const after = data.measured === null ? data : { ...data, measured: null };
  if (data.summaries === 0) return after;
  const conversation = toArray(data.conversation.turns)
    .filter(({ summaries }) => summaries?.some(({ text, stale }) => saysNothing(text) && stale !== true) === true)
    .reduce((thread, { number }) => changeTurn(thread, number, withdrawn), data.conversation);
  return { ...after, conversation };
};

/** Returns whether a summary is only redacted text. It may have been written in several parts. */
const saysNothing = (text: string): boolean =>
  text.includes(redactedText) && text.replaceAll(redactedText, "").trim() === "";

const withdrawn = (turn: Turn): Turn => ({
  ...turn,
  summaries:
    turn.summaries?.map((summary) => (saysNothing(summary.text) ? { ...summary, stale: true } : summary)) ?? [],
});
