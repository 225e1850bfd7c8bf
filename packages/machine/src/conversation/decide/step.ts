import { limitsOf as limitsOfAsks, openTurn } from "../update/turn-opening.ts";
import type { Fullness, Decided, SynthesisedResult } from "../protocol/entry.ts";
import type { LimitReached } from "../../thread/turn.ts";
import { sameCut } from "../../prompt/decide-cut.ts";
import { defaultWaitMs } from "../../prompt/policy.ts";
import type { ConversationData, OpenTurn, QueuedAsk, RoundCall } from "../protocol/data.ts";
import { type Asked, decidePrompt, type PromptDecision, unfitOf } from "./prompt.ts";
import { decideSummary } from "./summary-task.ts";
import type { Limits } from "../protocol/limits.ts";
import type { Settings } from "./settings.ts";
import { draftsOf } from "../update/ask-drafts.ts";

/** Decides the opening of a turn: its deadline, and the first prompt or the limit that forbids it. */
export const decideOpening = (
  settings: Settings,
  data: ConversationData,
  asks: readonly QueuedAsk[],
  at: number,
): Decided => {
  const limits = { ...settings.limits, ...limitsOfAsks(asks) };
  const deadline = limits.deadlineMs === undefined ? {} : { deadlineAt: at + limits.deadlineMs };
  const limit = openingLimit(limits);
  if (limit !== null) return { limit };
  const open = () => openTurn(data, asks, deadline, at).data.open;
  const saysNothing = asks.flatMap(draftsOf).length === 0 && data.conversation.appended.length === 0;
  const step = decideStep(settings, data, { open, saysNothing, at });
  // A turn that ends at once needs no deadline.
  return step.unfit === undefined ? { ...deadline, ...step } : step;
};

/**
 * Decides the next model call of the open turn. The result holds the cut if it differs from the last one, or the
 * reason why the call must wait or cannot be made.
 */
export const decideStep = (
  settings: Settings,
  data: ConversationData,
  asked: Asked & { readonly at: number; readonly dueAt?: number },
): Decided => {
  const prompt = decidePrompt(settings, data, asked);
  const { failed, fits } = prompt;
  const wanted = asked.withoutSummary === true ? {} : decideSummary(settings, data, prompt.situation, prompt.cut);
  const problem = failed ?? wanted.policyFailed;
  const reported = {
    ...fullness(settings, data, prompt),
    ...refusedBy(problem),
  };
  const isComing = data.summarising !== null || (wanted.summary !== undefined && wanted.summary.unfit === undefined);
  const canWait = asked.withoutSummary !== true && isComing;
  if (!fits && !canWait) {
    // A policy that relies on summaries leaves out nothing while a summary may still arrive.
    return asked.withoutSummary !== true && settings.policy.summariser !== undefined
      ? { ...wanted, ...refusedBy(problem), ...decideStep(settings, data, { ...asked, withoutSummary: true }) }
      : prompt.mayFit
        ? { ...wanted, ...reported, ...shownBy(settings, data, prompt) }
        : { ...reported, unfit: unfitOf(prompt) };
  }
  if (!fits) {
    const dueAt = asked.dueAt ?? asked.at + (settings.policy.summariser?.waitMs ?? defaultWaitMs);
    return { ...wanted, ...reported, compacting: { dueAt } };
  }
  return { ...wanted, ...reported, ...shownBy(settings, data, prompt) };
};

const shownBy = (settings: Settings, { cut: last }: ConversationData, prompt: PromptDecision): Decided => ({
  ...(sameCut(last, prompt.cut) ? {} : { cut: prompt.cut }),
  ...(isMeasurable(settings, prompt) ? { counted: prompt.tokens ?? 0 } : {}),
});

const refusedBy = (problem: string | undefined): Pick<Decided, "policyFailed"> =>
  problem === undefined ? {} : { policyFailed: problem };

/** Returns the limit that forbids the next model call of a turn, or null if none does. */
export const limitBeforeCall = (settings: Settings, open: OpenTurn, at: number): LimitReached | null => {
  const { steps } = limitsOf(settings, open);
  if (steps !== undefined && steps !== null && open.step + 1 > steps)
    return { limit: "steps", allowed: steps, reached: open.step + 1 };
  return limitSpent(settings, open, at);
};

/** Returns the limit that forbids a whole batch of tool calls, or null if none does. */
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

/** Returns the limit that a turn has used up, or null if there is none. */
export const limitSpent = (settings: Settings, open: OpenTurn, at: number): LimitReached | null => {
  const { tokens, costNano } = limitsOf(settings, open);
  const used = open.usage.totalTokens.sum;
  if (tokens !== undefined && used >= tokens) return { limit: "tokens", allowed: tokens, reached: used };
  const cost = Object.values(open.usage.cost).reduce((sum, tally) => sum + tally.sum, 0);
  if (costNano !== undefined && cost >= costNano) return { limit: "costNano", allowed: costNano, reached: cost };
  if (open.deadlineAt === null || at < open.deadlineAt) return null;
  return { limit: "deadlineMs", allowed: open.deadlineAt - open.startedAt, reached: at - open.startedAt };
};

/** Returns results for the unanswered calls of a turn that stops. */
export const interruptedResults = (open: OpenTurn, because: string): Pick<Decided, "results"> => {
  if (open.stage.type !== "running") return {};
  const results = open.stage.calls.flatMap((call, position): SynthesisedResult[] =>
    call.result === null
      ? [
          {
            position,
            outcome: "interrupted",
            content: [{ type: "text", text: `Interrupted: ${because} before ${awaited(call)}.` }],
          },
        ]
      : [],
  );
  return { results };
};

const awaited = ({ approval, by }: RoundCall): string =>
  by === "caller"
    ? "the caller answered"
    : approval?.status === "requested"
      ? "the call was approved"
      : "the tool answered";

/** Returns the fullness of a prompt if it differs from that of the last prompt. */
const fullness = (settings: Settings, data: ConversationData, prompt: PromptDecision): Pick<Decided, "fullness"> => {
  const { tokens, situation, cut } = prompt;
  const { available } = situation;
  if (tokens === null || available === null) return {};
  // An unchanged cut made its room earlier.
  const pressed = prompt.pressed && !sameCut(data.cut, cut);
  const is = fullnessOf(tokens, available, pressed, settings.warnAt);
  return is === data.fullness ? {} : { fullness: { is, tokens, available } };
};

/** Returns whether the size of a prompt can calibrate the counter. */
export const isMeasurable = (
  { calibrate, budget }: Settings,
  { tokens, situation: { available } }: PromptDecision,
): boolean =>
  calibrate &&
  budget !== null &&
  tokens !== null &&
  available !== null &&
  tokens > 0 &&
  tokens >= available * measurableShare;

/**
 * The share of the room from which a call's size shows the counter's error. In smaller prompts, what the counter
 * cannot count weighs more.
 */
const measurableShare = 0.25;

const openingLimit = (limits: Limits): LimitReached | null => {
  const { steps, tokens, costNano, deadlineMs } = limits;
  if (steps === 0) return { limit: "steps", allowed: 0, reached: 1 };
  if (tokens === 0) return { limit: "tokens", allowed: 0, reached: 0 };
  if (costNano === 0) return { limit: "costNano", allowed: 0, reached: 0 };
  return deadlineMs === 0 ? { limit: "deadlineMs", allowed: 0, reached: 0 } : null;
};

const limitsOf = (settings: Settings, open: OpenTurn): Limits => ({ ...settings.limits, ...open.limits });

/** Grades a prompt. It is also at its limit if something was left out for lack of room. */
const fullnessOf = (tokens: number, available: number, pressed: boolean, warnAt: number): Fullness => {
  if (pressed || tokens >= available) return "at_limit";
  return tokens >= available * warnAt ? "approaching_limit" : "within";
};
