import { counted } from "../../prompt/counts.ts";
import { messageFromDraft } from "../../thread/make-message.ts";
import type { ConversationData, OpenTurn, Summarising } from "../protocol/data.ts";
import { costOf, saysCut } from "./outcome.ts";
import { decideStep, situationOf, decideSummary } from "./step.ts";
import { limitSpent } from "./limits.ts";
import type { LlmCompleted, LlmFailed } from "../protocol/event.ts";
import type { Decided } from "../protocol/entry.ts";
import type { Settings } from "./settings.ts";
import { giveUp, receiveSummary, summaryText } from "../update/summary.ts";

/**
 * Decides what follows from the outcome of a summary call: the use of the summary, the model call that waited for it,
 * and the next summary. After a failure no summary is asked for until the next turn or step.
 */
export const decideSummaryOutcome = (
  settings: Settings,
  data: ConversationData,
  summarising: Summarising,
  event: LlmCompleted | LlmFailed,
): Decided => {
  const problem = event.type === "llm.completed" ? problemOf(settings, event) : event.failure.message;
  const outcome: Decided = {
    ...costOf(settings, event, summarising.model),
    ...(problem === null || event.type === "llm.failed" ? {} : { summaryFailed: problem }),
  };
  const after = receiveSummary(data, summarising, event, outcome).data;
  const { open } = after;
  if (open?.stage.type === "compacting") {
    const limit = limitSpent(settings, open, event.at);
    if (limit !== null) return { ...outcome, limit };
    // One summary may not be enough. Another is asked for as long as the model call may wait.
    const asked = {
      open: () => open,
      saysNothing: open.messages.length === 0,
      withoutSummary: problem !== null,
      at: event.at,
      dueAt: open.stage.dueAt,
    };
    return { ...outcome, ...decideStep(settings, after, asked) };
  }
  if (problem !== null) return outcome;
  return { ...outcome, ...decideSummary(settings, after, situationOf(settings, after, { open: () => open })) };
};

/** Decides what follows when the wait for a summary ends: the waiting model call is made without it. */
export const decideWaited = (settings: Settings, data: ConversationData, open: OpenTurn, at: number): Decided => {
  const { summarising } = data;
  const after = summarising === null ? data : giveUp(data, summarising);
  const limit = limitSpent(settings, open, at);
  if (limit !== null) return { limit };
  const asked = { open: () => open, saysNothing: open.messages.length === 0, withoutSummary: true, at };
  return decideStep(settings, after, asked);
};

/** Returns why a reply cannot serve as the summary, or null if it can. */
const problemOf = ({ policy, counts }: Settings, event: LlmCompleted): string | null => {
  if ((event.reply.toolCalls ?? []).length > 0) return "the model asked for tools instead of a summary";
  const text = summaryText(event);
  if (text === "") return "the summary is empty";
  if (saysCut(event.finishReason)) return "the summary was cut off at the model's own limit";
  const most = policy.summariser?.maxTokens ?? Number.POSITIVE_INFINITY;
  const tokens = counted(() => counts.message(messageFromDraft("", { role: "user", content: text })));
  return tokens !== null && tokens > most ? `the summary has ${tokens} tokens, and ${most} are allowed` : null;
};
