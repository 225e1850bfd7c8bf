import { type Effect, publish, type Signal } from "../protocol/effect.ts";
import { messageFromReply } from "../../thread/make-message.ts";
import { textOf } from "../../thread/message.ts";
import { changeTurn, isBefore, turnOf } from "../../thread/thread.ts";
import type { Turn } from "../../thread/turn.ts";
import { type Cost, type ReportedUsage, type Usage, usageMonoid, usageOfCall } from "../../thread/usage.ts";
import type { SummaryTask } from "../../prompt/policy.ts";
import { callSummary } from "./call.ts";
import type { ConversationData, Summarising } from "../protocol/data.ts";
import { summaryId } from "../protocol/effect-id.ts";
import type { LlmCompleted, LlmFailed } from "../protocol/event.ts";
import type { Decided } from "../protocol/entry.ts";
import type { Plan } from "./plan.ts";

/** Adds the request of a summary to a plan, after its other effects, because the answer comes first. */
export const askSummary = (plan: Plan, task: SummaryTask): Plan => {
  const { data } = plan;
  if (task.unfit !== undefined) return refuseSummary(plan, task, task.unfit);
  const { summariser, idleTimeoutMs = null } = data.configuration;
  const summarising: Summarising = {
    ...task,
    number: data.summaries + 1,
    turn: data.open?.number ?? null,
    instruction: summariser?.instruction ?? "",
    model: { ...data.configuration.model, ...data.model, ...summariser?.model },
    idleTimeoutMs,
  };
  const after = { ...data, summaries: summarising.number, summarising };
  const { number, covers } = summarising;
  return {
    ...plan,
    data: after,
    effects: (prompts) => [
      ...plan.effects(prompts),
      publish({ type: "summary.started", number, covers }),
      callSummary(after, summarising),
    ],
  };
};

/** Records a summary that failed before it was requested, because its request does not fit. */
const refuseSummary = (
  plan: Plan,
  { covers }: SummaryTask,
  { tokens, available }: NonNullable<SummaryTask["unfit"]>,
): Plan => {
  const { data } = plan;
  const number = data.summaries + 1;
  const reason = `what it is about takes ${tokens} tokens, however short each text, and there is room for ${available}`;
  return {
    ...plan,
    data: { ...data, summaries: number, conversation: changeTurn(data.conversation, covers.to, failedOnce) },
    effects: (prompts) => [...plan.effects(prompts), publish({ type: "summary.failed", number, covers, reason })],
  };
};

/**
 * Applies the outcome of a summary call: the last turn that it covers keeps the summary, or the failure. The caller
 * handles a model call that waits for it.
 */
export const receiveSummary = (
  data: ConversationData,
  summarising: Summarising,
  event: LlmCompleted | LlmFailed,
  decided: Decided,
): Pick<Plan, "data" | "effects"> => {
  const charged = charge(data, summarising, event.usage, decided.cost);
  const failure = event.type === "llm.failed" ? event.failure.message : decided.summaryFailed;
  const text = event.type === "llm.completed" ? summaryText(event) : "";
  const { number, covers } = summarising;
  const conversation = changeTurn(charged.conversation, covers.to, (turn) =>
    failure === undefined
      ? { ...turn, summaries: [...(turn.summaries ?? []), { number, from: covers.from, text }] }
      : failedOnce(turn),
  );
  const signal: Signal =
    failure === undefined
      ? { type: "summary.completed", number, covers }
      : { type: "summary.failed", number, covers, reason: failure };
  return {
    data: { ...charged, conversation, summarising: null },
    effects: () => [publish(signal)],
  };
};

export const summaryText = ({ reply }: LlmCompleted): string => textOf(messageFromReply("", "", reply)).trim();

/** Records a summary that is no longer awaited as failed. Its cost is unknown. */
export const giveUp = (data: ConversationData, summarising: Summarising): ConversationData => {
  const charged = charge(data, summarising, undefined, undefined);
  const conversation = changeTurn(charged.conversation, summarising.covers.to, failedOnce);
  return { ...charged, conversation, summarising: null };
};

export const calledOff = (threadId: string, { number, covers }: Summarising, reason: string): readonly Effect[] => [
  { type: "cancelLlm", effectId: summaryId(threadId, number) },
  publish({ type: "summary.failed", number, covers, reason }),
];

/** Cancels a summary that is no longer wanted. Its cost is recorded as unknown, not as zero. */
export const callOff = (plan: Plan, summarising: Summarising, reason: string): Plan => {
  const { threadId } = plan.data;
  const data = { ...charge(plan.data, summarising, undefined, undefined), summarising: null };
  const { total } = data.usage;
  return {
    ...plan,
    data,
    effects: (prompts) => [
      ...plan.effects(prompts).map((effect) => withTotal(effect, total)),
      ...calledOff(threadId, summarising, reason),
    ],
  };
};

/** Updates the usage in a `thread.updated` signal that was created before the last charge. */
const withTotal = (effect: Effect, usage: Usage): Effect =>
  effect.type === "publish" && effect.signal.type === "thread.updated"
    ? { ...effect, signal: { ...effect.signal, usage } }
    : effect;

/** Marks the summaries that cover a changed turn as stale. */
export const withdrawSummaries = (data: ConversationData, changed: number): ConversationData => {
  if (data.summaries === 0) return data;
  let { conversation } = data;
  for (let number = changed; number <= conversation.turns.length; number++) {
    const summaries = turnOf(conversation, number)?.summaries;
    if (summaries?.some(({ from }) => from <= changed) !== true || !isBefore(conversation, changed, number)) continue;
    conversation = changeTurn(conversation, number, (turn) => ({
      ...turn,
      summaries:
        turn.summaries?.map((summary) => (summary.from <= changed ? { ...summary, stale: true } : summary)) ?? [],
    }));
  }
  return { ...data, conversation };
};

/** Charges a summary call to the turn that was open when it was requested. */
const charge = (
  data: ConversationData,
  { turn }: Summarising,
  reported: ReportedUsage | undefined,
  cost: Cost | undefined,
): ConversationData => {
  const used = usageOfCall(reported ?? null, cost ?? null);
  const add = (usage: Usage): Usage => usageMonoid.concat(usage, used);
  const { open, conversation } = data;
  const total = add(data.usage.total);
  if (turn === null) return { ...data, usage: { total, betweenTurns: add(data.usage.betweenTurns) } };
  if (open?.number === turn)
    return { ...data, usage: { ...data.usage, total }, open: { ...open, usage: add(open.usage) } };
  return {
    ...data,
    usage: { ...data.usage, total },
    conversation: changeTurn(conversation, turn, (closed) => ({ ...closed, usage: add(closed.usage) })),
  };
};

const failedOnce = (turn: Turn): Turn => ({ ...turn, summaryFailures: (turn.summaryFailures ?? 0) + 1 });
