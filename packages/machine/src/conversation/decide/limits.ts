// The limits of a turn that forbid its next calls.
import type { LimitReached } from "../../thread/turn.ts";
import type { OpenTurn } from "../protocol/data.ts";
import type { Limits } from "../protocol/limits.ts";
import type { Settings } from "./settings.ts";

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

export const limitSpent = (settings: Settings, open: OpenTurn, at: number): LimitReached | null => {
  const { tokens, costNano } = limitsOf(settings, open);
  const used = open.usage.totalTokens.sum;
  if (tokens !== undefined && used >= tokens) return { limit: "tokens", allowed: tokens, reached: used };
  const cost = Object.values(open.usage.cost).reduce((sum, tally) => sum + tally.sum, 0);
  if (costNano !== undefined && cost >= costNano) return { limit: "costNano", allowed: costNano, reached: cost };
  if (open.deadlineAt === null || at < open.deadlineAt) return null;
  return { limit: "deadlineMs", allowed: open.deadlineAt - open.startedAt, reached: at - open.startedAt };
};

const limitsOf = (settings: Settings, open: OpenTurn): Limits => ({ ...settings.limits, ...open.limits });
