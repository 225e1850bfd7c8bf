import { toArray } from "../thread/chunks.ts";
import type { LimitReached } from "../thread/turn.ts";
import { decideCut, keepingAll, sameCut } from "../prompt/decide-cut.ts";
import type { CutDecision } from "../prompt/decide-cut.ts";
import { render } from "../prompt/render.ts";
import { historyOf } from "../prompt/history.ts";
import type { Unit } from "../prompt/unit.ts";
import { unitsOf } from "../prompt/unit.ts";
import type { ConversationData, OpenTurn, QueuedAsk } from "./data.ts";
import type { Decided, SynthesisedResult } from "./event.ts";
import type { Limits } from "./limits.ts";
import type { Settings } from "./settings.ts";
import { draftsOf, openTurn } from "./turn-opening.ts";

/** What the opening of a turn decides: its deadline, and the first prompt or the limit that forbids it. */
export const decideOpening = (settings: Settings, data: ConversationData, ask: QueuedAsk, at: number): Decided => {
  const limits = { ...settings.limits, ...ask.limits };
  const deadline = limits.deadlineMs === undefined ? {} : { deadlineAt: at + limits.deadlineMs };
  const limit = openingLimit(limits);
  if (limit !== null) return { limit };
  const opened = () => openTurn(data, ask, deadline, at).data.open;
  const saysNothing = draftsOf(ask).length === 0 && data.conversation.appended.length === 0;
  return { ...deadline, ...decideStep(settings, data, opened, saysNothing) };
};

/** What the next prompt shows, where that is not what the last one did. `open` is asked only by policies that look at the open turn; `saysNothing`, where that turn holds no message yet. */
export const decideStep = (
  settings: Settings,
  data: ConversationData,
  open: () => OpenTurn | null,
  saysNothing = false,
): Decided => decided(data, saysNothing ? showingSomething(settings, data, open) : cutFor(settings, data, open));

/** Asks the policy about the next prompt of a thread. */
export const cutFor = (settings: Settings, data: ConversationData, open: () => OpenTurn | null): CutDecision => {
  const history = historyOf(data.conversation, () => fixedUnits(data, open()));
  const { budget, counter, interrupted } = settings;
  return decideCut(settings.policy, history, { budget, counter, lastCut: data.cut, interrupted });
};

/**
 * An ask that says nothing lives from what is shown of the thread, so a policy must show something of it; only a
 * thread that holds nothing but its system prompt is asked with that alone.
 */
export const showingSomething = (
  settings: Settings,
  data: ConversationData,
  open: () => OpenTurn | null,
): CutDecision => {
  const decision = cutFor(settings, data, open);
  if (render(data.conversation, decision.cut, null, []).length > 0) return decision;
  const all = keepingAll("keep", `${decision.cut.policy} shows nothing of the thread, and the ask says nothing itself`);
  return render(data.conversation, all.cut, null, []).length > 0 ? all : decision;
};

/** The limit that stands before the next model call of a turn, after so many steps; null for none. */
export const limitBeforeCall = (settings: Settings, open: OpenTurn, at: number): LimitReached | null => {
  const { steps } = limitsOf(settings, open);
  if (steps !== undefined && open.step + 1 > steps) return { limit: "steps", allowed: steps, reached: open.step + 1 };
  return limitSpent(settings, open, at);
};

/** The limit that stands before a whole batch of tool calls; null for none. */
export const limitBeforeBatch = (
  settings: Settings,
  open: OpenTurn,
  batch: number,
  at: number,
): LimitReached | null => {
  const { toolCalls } = limitsOf(settings, open);
  const reached = open.toolCalls + batch;
  if (toolCalls !== undefined && reached > toolCalls) return { limit: "toolCalls", allowed: toolCalls, reached };
  return limitSpent(settings, open, at);
};

/** The limit that a turn has used up, whatever comes next; null for none. */
export const limitSpent = (settings: Settings, open: OpenTurn, at: number): LimitReached | null => {
  const { tokens, costNano } = limitsOf(settings, open);
  const used = open.usage.totalTokens.sum;
  if (tokens !== undefined && used >= tokens) return { limit: "tokens", allowed: tokens, reached: used };
  const cost = Object.values(open.usage.cost).reduce((sum, tally) => sum + tally.sum, 0);
  if (costNano !== undefined && cost >= costNano) return { limit: "costNano", allowed: costNano, reached: cost };
  if (open.deadlineAt === null || at < open.deadlineAt) return null;
  return { limit: "deadlineMs", allowed: open.deadlineAt - open.startedAt, reached: at - open.startedAt };
};

/** Results for the calls of the open turn that have none, because it stops. */
export const interruptedResults = (open: OpenTurn, because: string): Pick<Decided, "results"> => {
  if (open.stage.type !== "running") return {};
  const results = open.stage.calls.flatMap((call, position): SynthesisedResult[] =>
    call.result === null
      ? [
          {
            position,
            outcome: "interrupted",
            content: [{ type: "text", text: `Interrupted: ${because} before the tool answered.` }],
          },
        ]
      : [],
  );
  return { results };
};

const decided = (data: ConversationData, { cut, failed }: CutDecision): Decided => ({
  ...(sameCut(data.cut, cut) ? {} : { cut }),
  ...(failed === undefined ? {} : { policyFailed: failed }),
});

const openingLimit = (limits: Limits): LimitReached | null => {
  const { steps, tokens, costNano, deadlineMs } = limits;
  if (steps === 0) return { limit: "steps", allowed: 0, reached: 1 };
  if (tokens === 0) return { limit: "tokens", allowed: 0, reached: 0 };
  if (costNano === 0) return { limit: "costNano", allowed: 0, reached: 0 };
  return deadlineMs === 0 ? { limit: "deadlineMs", allowed: 0, reached: 0 } : null;
};

const limitsOf = (settings: Settings, open: OpenTurn): Limits => ({ ...settings.limits, ...open.limits });

/** Between turns, what was appended is what the next turn begins with. */
const fixedUnits = ({ conversation }: ConversationData, open: OpenTurn | null): readonly Unit[] => [
  ...(conversation.system === null ? [] : unitsOf(0, [conversation.system])),
  ...(open === null
    ? unitsOf(conversation.turns.length + 1, conversation.appended)
    : unitsOf(open.number, toArray(open.messages))),
];
