import * as Either from "fp-ts/lib/Either.js";
import type { ConversationData } from "../protocol/data.ts";
import { approvedCall, problemOfToolEvent } from "./approval.ts";
import { decideAsk, nextOf } from "./ask.ts";
import { decideCheck, decideFailure, decideReply, decideResult } from "./outcome.ts";
import { decideOpening, decideStep, interruptedResults, limitSpent } from "./step.ts";
import { decideSummaryOutcome, decideWaited } from "./summary.ts";
import { decideUnconfigured } from "./unconfigured.ts";
import { checkId, deadlineId, llmId, queueId, retryId, summaryId, waitId } from "../protocol/effect-id.ts";
import type { Event, TimerFired, ToolCompleted, ToolFailed, ToolStarted, ToolWithheld } from "../protocol/event.ts";
import type { Decided } from "../protocol/entry.ts";
import { type Refusal, refuse } from "../protocol/refusal.ts";
import { callsOf, positionNamedBy, runOut } from "../update/round-calls.ts";
import type { Settings } from "./settings.ts";

/**
 * Decides whether an event fits, and what the configuration adds to it. Only this function and its helpers depend on
 * the configuration. The journal stores the decision, so `update` needs no configuration.
 */
export const decide = (settings: Settings, data: ConversationData, event: Event): Either.Either<Refusal, Decided> => {
  const { open } = data;
  switch (event.type) {
    case "ask.received":
      return decideAsk(settings, data, event);
    case "llm.completed":
    case "llm.failed":
    case "llm.progressed":
      if (data.summarising !== null && event.effectId === summaryId(data.threadId, data.summarising.number))
        return event.type === "llm.progressed"
          ? refuse("invalid", "the progress of a summary is not kept: send its outcome")
          : Either.right(decideSummaryOutcome(settings, data, data.summarising, event));
      if (
        open?.stage.type !== "responding" ||
        event.effectId !== llmId(data.threadId, open.number, open.step, open.stage.call.attempt)
      ) {
        return stale(event.effectId, "model call");
      }
      if (event.type === "llm.progressed") return Either.right(nothing);
      return Either.right(
        event.type === "llm.completed"
          ? decideReply(settings, data, open, event)
          : decideFailure(settings, data, open, open.stage.call.attempt, event),
      );
    case "output.accepted":
    case "output.refused":
      return open?.stage.type === "checking" && event.effectId === checkId(data.threadId, open.number, open.step)
        ? Either.right(decideCheck(settings, data, open, event))
        : stale(event.effectId, "check");
    case "tool.started":
    case "tool.withheld":
    case "tool.completed":
    case "tool.failed":
      return decideTool(settings, data, event);
    case "approval.answered": {
      const calls = callsOf(data);
      const call = approvedCall(data, calls, event);
      if (Either.isLeft(call)) return call;
      return Either.right(event.approved || open === null ? nothing : decideResult(settings, data, open, calls, event));
    }
    case "timer.fired":
      return decideTimer(settings, data, event);
    default:
      return decideUnconfigured(data, event);
  }
};

const nothing: Decided = {};

const decideTool = (
  settings: Settings,
  data: ConversationData,
  event: ToolStarted | ToolWithheld | ToolCompleted | ToolFailed,
): Either.Either<Refusal, Decided> => {
  const { open } = data;
  const calls = callsOf(data);
  const call = calls[positionNamedBy(event.effectId)];
  const again = event.type === "tool.started" && call?.started === true;
  if (open === null || call === undefined || again || runOut(data.threadId, call) !== event.effectId)
    return stale(event.effectId, "tool call");
  const problem = problemOfToolEvent(call, event);
  if (problem !== null) return refuse("invalid", problem);
  return Either.right(
    event.type === "tool.started" || event.type === "tool.withheld"
      ? nothing
      : decideResult(settings, data, open, calls, event),
  );
};

const stale = (effectId: string, what: string): Either.Either<Refusal, never> =>
  refuse("stale", `no ${what} "${effectId}" is awaited: it was answered or cancelled, or it is of another thread`);

const decideTimer = (
  settings: Settings,
  data: ConversationData,
  event: TimerFired,
): Either.Either<Refusal, Decided> => {
  const { open, waking, queue } = data;
  if (waking !== null && queue.length > 0 && event.effectId === queueId(data.threadId, waking.seq)) {
    const asks = nextOf(settings, queue);
    const opens = asks.length === 1 ? {} : { opens: asks.length };
    return Either.right({ ...opens, ...decideOpening(settings, data, asks, event.at) });
  }
  if (open === null) return stale(event.effectId, "timer");
  if (open.deadlineAt !== null && event.effectId === deadlineId(data.threadId, open.number)) {
    const allowed = open.deadlineAt - open.startedAt;
    const limit = { limit: "deadlineMs" as const, allowed, reached: Math.max(allowed, event.at - open.startedAt) };
    return Either.right({ limit, ...interruptedResults(open, "the deadline of the turn passed") });
  }
  if (
    open.stage.type === "backing_off" &&
    event.effectId === retryId(data.threadId, open.number, open.step, open.stage.attempt)
  ) {
    const limit = limitSpent(settings, open, event.at);
    if (limit !== null) return Either.right({ limit });
    const saysNothing = open.messages.length === 0;
    return Either.right(decideStep(settings, data, { open: () => open, saysNothing, at: event.at }));
  }
  if (
    open.stage.type === "compacting" &&
    event.effectId === waitId(data.threadId, open.number, open.step, open.stage.attempt)
  ) {
    return Either.right(decideWaited(settings, data, open, event.at));
  }
  return stale(event.effectId, "timer");
};
