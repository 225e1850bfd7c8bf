import type { Message } from "../thread/message.ts";
import { counted } from "../prompt/counts.ts";
import type { Cut } from "../prompt/cut.ts";
import { messagesIn } from "../prompt/blocks.ts";
import { decidePrompt, type PromptDecision } from "./decide/prompt.ts";
import type { OpenTurn } from "./protocol/data.ts";
import { interruptedResults } from "./decide/step.ts";
import { withJoined } from "./update/joining.ts";
import { type ConversationMachine, internals } from "./machine.ts";
import type { Settings } from "./decide/settings.ts";
import { ownedState, type State } from "./protocol/state.ts";
import { answerFrom, flushWaiting, settleRound } from "./update/turn-closing.ts";

/** What a model call would be sent, and why. */
export interface Prompt {
  /** Well-formed; `digestOfPrompt` gives their digest. */
  readonly messages: readonly Message[];
  /** As the machine's counter counts them; null where it can't. */
  readonly tokens: number | null;
  /** What there is room for in the counter's tokens: the budget without its reserve, calibrated; null for no bound. */
  readonly available: number | null;
  /** What does not fit is not sent. */
  readonly fits: boolean;
  /** What is left out. */
  readonly cut: Cut;
  /** The policy's reason for leaving it out. */
  readonly reason: string;
  /** Why the policy could not be used, and everything is shown instead; or that the counter could not count the prompt, which is then as the policy decided. */
  readonly failed?: string;
}

/**
 * What the next model call would see if it were made now, a summary that still comes left aside. Pure and total.
 * Calls that are still out are shown with a result that says so, marked as synthesised.
 *
 * @throws SnapshotDamagedError where the state was read from a snapshot, and a part that is needed can't be read.
 */
export const promptOf = (machine: ConversationMachine, state: State): Prompt => {
  const { settings } = machine[internals];
  return promptAsDecided(settings, nextPrompt(settings, state));
};

/** A prompt that was decided, for a caller to look at. */
export const promptAsDecided = (settings: Settings, decision: PromptDecision): Prompt => {
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

/** What is decided about the next prompt if it were made now. */
export const nextPrompt = (settings: Settings, state: State): PromptDecision => {
  const { context: data } = ownedState(state);
  const open = data.open === null ? null : withJoined(withoutGaps(data.open));
  const asked = { open: () => open, saysNothing: open !== null && open.messages.length === 0 };
  const decision = decidePrompt(settings, data, asked);
  return decision.fits || settings.policy.summariser === undefined
    ? decision
    : decidePrompt(settings, data, { ...asked, withoutSummary: true });
};

const withoutGaps = (open: OpenTurn): OpenTurn => {
  if (open.stage.type !== "running") return flushWaiting(open);
  const { results = [] } = interruptedResults(open, "the prompt was looked at");
  return settleRound(open, answerFrom(open.stage.calls, results));
};
