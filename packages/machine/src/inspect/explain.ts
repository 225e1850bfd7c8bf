import type { Message } from "../thread/message.ts";
import { counted } from "../prompt/counts.ts";
import type { SummarisedTurns } from "../prompt/cut.ts";
import { explainUnits, tokensOfAll, tokensOfPrompt, type UnitExplanation } from "../prompt/explain-units.ts";
import type { Budget } from "../prompt/policy.ts";
import { blocksOf } from "../prompt/render.ts";
import { summaryMessage } from "../prompt/summary-message.ts";
import { decidePrompt } from "../conversation/decide/step.ts";
import type { Settings } from "../conversation/decide/settings.ts";
import { type ConversationMachine, internals } from "../conversation/machine.ts";
import { type DecidedPrompt, nextPrompt, promptAsDecided } from "../conversation/prompt-of.ts";
import type { State } from "../conversation/protocol/data.ts";
import { ownedState } from "../conversation/protocol/thaw.ts";

/** The next prompt, unit by unit. The machine's counter counts all tokens; null if it fails. */
export interface Explanation {
  /**
   * In the order of the thread. The prompt is the shown messages of all units, with the summary after the system
   * message.
   */
  readonly units: readonly UnitExplanation[];
  /** The message that stands for older turns; null if there is none. */
  readonly summary: SummaryExplanation | null;
  readonly tokens: number | null;
  /** The part of `tokens` that belongs to no message: the counter's overhead of a prompt. */
  readonly besideTokens: number | null;
  /** The tokens of a prompt that shows the whole path. */
  readonly wholeTokens: number | null;
  /** The room: the budget without its reserve, calibrated; null for no bound. */
  readonly available: number | null;
  /** `tokens` as a share of `available`; null if either is unknown, or if there is no room at all. */
  readonly share: number | null;
  /** A prompt that does not fit is not sent. */
  readonly fits: boolean;
  readonly budget: Budget | null;
  /** The number of tokens that a model reports for each counted one; 1 while unknown. */
  readonly calibration: number;
  /** The deciding policy: `name@version`. */
  readonly policy: string;
  /** The policy's reason for what it leaves out. */
  readonly reason: string;
  /**
   * The reason why the policy failed and everything is shown instead, or why the counter failed. If only the counter
   * failed, the prompt is as the policy decided.
   */
  readonly failed?: string;
}

/** The message that shows turns as their summaries. */
export interface SummaryExplanation {
  readonly turns: SummarisedTurns;
  readonly message: Message;
  readonly tokens: number | null;
}

/**
 * Explains what the next prompt shows of each unit of the thread, by which rule, and at what cost. It is the prompt of
 * `promptOf`. Pure. It walks the whole path, while a prompt costs only its shown part.
 *
 * @throws SnapshotDamagedError if the state was read from a snapshot and a needed part is unreadable.
 */
export const explain = (machine: ConversationMachine, state: State): Explanation => {
  const { settings } = machine[internals];
  return explanationOf(settings, nextPrompt(settings, state));
};

/**
 * Explains the prompt of the outstanding model call by its journalled cut, whatever a machine would decide now.
 * Returns null if no call is outstanding; summaries do not count. Reasons are not journalled, so they come from the
 * machine if it would cut the same way. The machine also gives the token counts and the room.
 *
 * @throws SnapshotDamagedError as `explain`.
 */
export const explainCall = (machine: ConversationMachine, state: State): Explanation | null => {
  const { settings } = machine[internals];
  const { context } = ownedState(state);
  const { open } = context;
  if (open?.stage.type !== "responding") return null;
  const { cut, system, pins } = open.stage.call;
  const conversation = { ...context.conversation, system, pins };
  // Messages that arrived during the call are not in its prompt.
  const asSent = { ...open, joining: [], waiting: [] };
  const decided = decidePrompt(settings, { ...context, conversation, cut, open: asSent }, { open: () => asSent });
  if (!decided.isNew) return explanationOf(settings, decided);
  const { situation } = decided;
  const blocks = blocksOf({ ...situation, system }, cut, settings.counts);
  const tokens = counted(() => settings.counts.blocks(blocks));
  const fits = situation.available === null || tokens === null || tokens <= situation.available;
  const reason = `as ${cut.policy} decided then`;
  return explanationOf(settings, {
    cut,
    reason,
    situation,
    blocks: () => blocks,
    tokens,
    fits,
  });
};

const explanationOf = (settings: Settings, decision: DecidedPrompt): Explanation => {
  const { counts } = settings;
  const { cut, reason, failed, situation } = decision;
  const { messages, tokens, available, fits } = promptAsDecided(settings, decision);
  const units = explainUnits(situation, decision);
  const message = summaryMessage(situation.thread, cut);
  const besideTokens = minus(tokens, tokensOfAll(counts, messages));
  return {
    units,
    summary:
      message === null || cut.summarised === undefined
        ? null
        : { turns: cut.summarised, message, tokens: tokensOfAll(counts, [message]) },
    tokens,
    besideTokens,
    wholeTokens: tokensOfPrompt(
      counts,
      units.flatMap((unit) => unit.messages),
    ),
    available,
    share: shareOf(tokens, available),
    fits,
    budget: situation.budget,
    calibration: situation.calibration,
    policy: cut.policy,
    reason,
    ...(failed === undefined ? {} : { failed }),
  };
};

/** Returns a share of the room, or null if it is unknown. */
export const shareOf = (tokens: number | null, available: number | null): number | null =>
  tokens === null || available === null || available <= 0 ? null : tokens / available;

const minus = (left: number | null, right: number | null): number | null =>
  left === null || right === null ? null : left - right;
