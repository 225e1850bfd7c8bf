import type { ReportedUsage } from "../../thread/usage.ts";
import { awaitsReply, isOfSummary } from "./awaited.ts";
import type { ConversationData, RoundCall } from "../protocol/data.ts";
import type { Event, LlmCompleted, LlmFailed } from "../protocol/event.ts";
import type { Decided } from "../protocol/entry.ts";
import type { Plan } from "./plan.ts";
import { type CallPlace, publish, type Signal } from "../protocol/effect.ts";
import { callsOf, positionNamedBy, positionOut } from "./round-calls.ts";

/** Puts the signals of the calls that an event ends before its other effects. */
export const withOutcomes = (before: ConversationData, event: Event, decided: Decided, plan: Plan): Plan =>
  endsCalls(event, decided)
    ? {
        data: plan.data,
        arrow: plan.arrow,
        effects: (prompts) => [...outcomesOf(before, event, decided).map(publish), ...plan.effects(prompts)],
      }
    : plan;

const endsCalls = ({ type }: Event, { results }: Decided): boolean =>
  results !== undefined ||
  type === "llm.completed" ||
  type === "llm.failed" ||
  type === "tool.completed" ||
  type === "tool.failed" ||
  type === "approval.answered";

const outcomesOf = (before: ConversationData, event: Event, decided: Decided): readonly Signal[] => {
  const { open, threadId } = before;
  const calls = callsOf(before);
  switch (event.type) {
    case "llm.completed":
    case "llm.failed": {
      const place = placeOf(before, event.effectId);
      if (place === null) return [];
      const written = event.type === "llm.completed" ? (event.reply.toolCalls ?? []) : [];
      return [modelSignal(place, event, decided), ...decidedResults(place, written, decided)];
    }
    case "tool.completed":
    case "tool.failed": {
      const position = positionOut(threadId, calls, event.effectId);
      const call = calls[position];
      const outcome = event.type === "tool.completed" ? "completed" : event.outcome;
      return open === null || call === undefined
        ? []
        : [{ type: "tool.ended", turn: open.number, step: open.step, position, name: call.name, outcome }];
    }
    case "approval.answered": {
      const position = positionNamedBy(event.effectId);
      const call = calls[position];
      if (open === null || event.approved || call?.approval?.status !== "requested") return [];
      const outcome = call.approval.because === "declared" ? "refused" : "unknown";
      return [{ type: "tool.ended", turn: open.number, step: open.step, position, name: call.name, outcome }];
    }
    default:
      return open === null ? [] : decidedResults({ turn: open.number, step: open.step }, unanswered(calls), decided);
  }
};

/** Returns the place of the model call that an event answers, or null if it is not awaited. */
const placeOf = (before: ConversationData, effectId: string): CallPlace | null => {
  const { open, summarising } = before;
  if (summarising !== null && isOfSummary(before, effectId))
    return { turn: summarising.turn ?? 0, step: 0, attempt: 1, purpose: "summary" };
  if (open?.stage.type !== "responding" || !awaitsReply(before, open, effectId)) return null;
  return { turn: open.number, step: open.step, attempt: open.stage.call.attempt, purpose: "answer" };
};

const modelSignal = (place: CallPlace, event: LlmCompleted | LlmFailed, { cost }: Decided): Signal => {
  const { model, usage } = event;
  const reported: { readonly model?: string; readonly usage?: ReportedUsage } = {
    ...(model === undefined ? {} : { model }),
    ...(usage === undefined ? {} : { usage }),
  };
  const priced = cost === undefined ? reported : { ...reported, cost };
  return event.type === "llm.completed"
    ? {
        type: "model.replied",
        ...place,
        finishReason: event.finishReason,
        toolCalls: event.reply.toolCalls?.length ?? 0,
        ...priced,
      }
    : { type: "model.failed", ...place, failure: event.failure.kind, ...priced };
};

/** Returns signals of calls that never ran or were stopped. The machine gave their results. */
const decidedResults = (
  { turn, step }: Pick<CallPlace, "turn" | "step">,
  calls: readonly (Pick<RoundCall, "name"> | null)[],
  { results = [] }: Decided,
): readonly Signal[] =>
  results.flatMap(({ position, outcome }): readonly Signal[] => {
    const name = calls[position]?.name;
    return name === undefined ? [] : [{ type: "tool.ended", turn, step, position, name, outcome }];
  });

const unanswered = (calls: readonly RoundCall[]): readonly (RoundCall | null)[] =>
  calls.map((call) => (call.result === null ? call : null));
