import type { Message } from "../thread/message.ts";
import { counted } from "../prompt/counts.ts";
import type { Cut } from "../prompt/cut.ts";
import { messagesIn } from "../prompt/blocks.ts";
import type { OpenTurn, State } from "./protocol/data.ts";
import { decideNow, interruptedResults, type PromptDecision } from "./decide/step.ts";
import { withJoined } from "./update/turn-opening.ts";
import { type ConversationMachine, internals } from "./machine.ts";
import type { Settings } from "./decide/settings.ts";
import { ownedState } from "./protocol/thaw.ts";
import { answerFrom, flushWaiting, settleRound } from "./update/turn-closing.ts";

/** The prompt of a model call, and the reasons for it. */
export interface Prompt {
  /** Well-formed; `digestOfPrompt` returns their digest. */
  readonly messages: readonly Message[];
  /** The size by the machine's counter; null if the counter fails. */
  readonly tokens: number | null;
  /** The room in the counter's tokens: the budget without its reserve, calibrated; null for no bound. */
  readonly available: number | null;
  /** A prompt that does not fit is not sent. */
  readonly fits: boolean;
  /** Names what the prompt leaves out. */
  readonly cut: Cut;
  /** The policy's reason for the cut. */
  readonly reason: string;
  /**
   * The reason why the policy failed and everything is shown instead, or why the counter failed. If only the counter
   * failed, the prompt is as the policy decided.
   */
  readonly failed?: string;
}

/**
 * Returns the prompt of the next model call if it were made now, without waiting for a pending summary. Pure, and
 * never throws for a valid state. Outstanding calls get a synthesised result that says so.
 *
 * @throws SnapshotDamagedError if the state was read from a snapshot and a needed part is unreadable.
 */
export const promptOf = (machine: ConversationMachine, state: State): Prompt => {
  const { settings } = machine[internals];
  return promptAsDecided(settings, nextPrompt(settings, state));
};

/** The part of a decision that its prompt depends on. */
export type DecidedPrompt = Omit<PromptDecision, "isNew" | "pressed" | "overBudget">;

export const promptAsDecided = (settings: Settings, decision: DecidedPrompt): Prompt => {
  const { cut, reason, failed, fits, situation } = decision;
  const blocks = decision.blocks();
  const messages = messagesIn(blocks);
  return {
    messages,
    tokens: decision.tokens ?? counted(() => settings.counts.blocks(blocks)),
    available: situation.available,
    fits,
    cut,
    reason,
    ...(failed === undefined ? {} : { failed }),
  };
};

/** Decides the next prompt as if the call were made now. */
export const nextPrompt = (settings: Settings, state: State): PromptDecision => {
  const { context: data } = ownedState(state);
  const open = data.open === null ? null : withJoined(withoutGaps(data.open));
  const asked = { open: () => open, saysNothing: open !== null && open.messages.length === 0 };
  return decideNow(settings, data, asked);
};

const withoutGaps = (open: OpenTurn): OpenTurn => {
  if (open.stage.type !== "running") return flushWaiting(open);
  const { results = [] } = interruptedResults(open, "the prompt was looked at");
  return settleRound(open, answerFrom(open.stage.calls, results));
};
