// The limits of a turn that forbid its next calls. `used` returns the usage with a call that `open.usage` does not
// include yet. It is called only if tokens or cost are limited.
import type { LimitReached } from "../../thread/turn.ts";
import type { Usage } from "../../thread/usage.ts";
import type { OpenTurn } from "../protocol/data.ts";
import type { Limits } from "../protocol/limits.ts";
import type { Settings } from "./settings.ts";

export const limitBeforeCall = (
  settings: Settings,
  open: OpenTurn,
  at: number,
  used?: () => Usage,
): LimitReached | null => {
  const steps = limitOf(settings, open, "steps");
  if (steps !== undefined && steps !== null && open.step + 1 > steps)
    return { limit: "steps", allowed: steps, reached: open.step + 1 };
  return limitSpent(settings, open, at, used);
};

/** Returns the limit that forbids a whole batch of tool calls, or null if none does. */
export const limitBeforeBatch = (
  settings: Settings,
  open: OpenTurn,
  batch: number,
  at: number,
  used: () => Usage,
): LimitReached | null => {
  const toolCalls = limitOf(settings, open, "toolCalls");
  const reached = open.toolCalls + batch;
  if (toolCalls !== undefined && reached > toolCalls) return { limit: "toolCalls", allowed: toolCalls, reached };
  return limitSpent(settings, open, at, used);
};

export const limitSpent = (
  settings: Settings,
  open: OpenTurn,
  at: number,
  used = (): Usage => open.usage,
): LimitReached | null => {
  const tokens = limitOf(settings, open, "tokens");
  const costNano = limitOf(settings, open, "costNano");
  if (tokens !== undefined) {
    const { sum } = used().totalTokens;
    if (sum >= tokens) return { limit: "tokens", allowed: tokens, reached: sum };
  }
  if (costNano !== undefined) {
    const cost = Object.values(used().cost).reduce((sum, tally) => sum + tally.sum, 0);
    if (cost >= costNano) return { limit: "costNano", allowed: costNano, reached: cost };
  }
  if (open.deadlineAt === null || at < open.deadlineAt) return null;
  return { limit: "deadlineMs", allowed: open.deadlineAt - open.startedAt, reached: at - open.startedAt };
};

/** Returns a limit of an open turn: that of its asks, or else that of the machine. */
const limitOf = <Name extends keyof Limits>({ limits }: Settings, open: OpenTurn, name: Name): Limits[Name] =>
  open.limits[name] === undefined ? limits[name] : open.limits[name];
