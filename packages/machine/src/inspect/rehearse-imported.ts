import { withoutAppended } from "../thread/thread.ts";
import { chunksOf } from "../thread/chunks.ts";
import type { ConversationData, OpenTurn } from "../conversation/protocol/data.ts";
import { decidePrompt } from "../conversation/decide/step.ts";
import type { Settings } from "../conversation/decide/settings.ts";
import { noUsage } from "../thread/usage.ts";
import type { ImportedCall } from "./imported-calls.ts";
import { callOf, type Rehearsal, type Rehearsed } from "./rehearse.ts";

/**
 * Decides which prompt a configuration would have shown for a call that was made elsewhere. It leaves no mark on the
 * thread: later calls made here are decided as if nothing had been cut for it. A needed summary counts as one that the
 * recording lacks.
 */
export const rehearseImported = (settings: Settings, rehearsal: Rehearsal, imported: ImportedCall): Rehearsed => {
  const data = threadBefore(rehearsal, imported);
  const open = openTurnOf(data, imported);
  const asked = { open: () => open, saysNothing: imported.messages.length === 0 };
  const first = decidePrompt(settings, data, asked);
  const prompt =
    first.fits || settings.policy.summariser === undefined
      ? first
      : decidePrompt(settings, data, { ...asked, withoutSummary: true });
  const { seq } = imported.entry;
  const place = { seq, turn: imported.turn, step: imported.step, attempt: 1, imported: true };
  return {
    rehearsal: { ...rehearsal, importedCut: prompt.fits ? prompt.cut : rehearsal.importedCut },
    call: callOf(place, prompt, data.cut),
    summaries: [],
    failed: prompt.failed ?? null,
  };
};

const threadBefore = ({ data, importedCut }: Rehearsal, { seedLength }: ImportedCall): ConversationData => {
  const { conversation } = data;
  const seed = seedLength === null ? conversation.seed : conversation.seed.slice(0, seedLength);
  return { ...data, cut: importedCut ?? data.cut, conversation: { ...withoutAppended(conversation), seed } };
};

/** Returns the turn as it would have been open. */
const openTurnOf = (
  { conversation, model, updatedAt }: ConversationData,
  { messages, step }: ImportedCall,
): OpenTurn => ({
  number: conversation.turns.length + 1,
  parent: conversation.head,
  asks: [],
  startedAt: updatedAt,
  messages: chunksOf(messages),
  waiting: [],
  joining: [],
  made: messages.length,
  step,
  toolCalls: 0,
  answer: null,
  metadata: null,
  usage: noUsage,
  model,
  limits: {},
  deadlineAt: null,
  stage: { type: "running", calls: [] },
});
