import { toArray } from "../thread/chunks.ts";
import { digestOfPrompt } from "../thread/digest.ts";
import type { Message } from "../thread/message.ts";
import type { Counter } from "../prompt/counter.ts";
import { countPrompt } from "../prompt/counter.ts";
import type { Cut } from "../prompt/cut.ts";
import { render } from "../prompt/render.ts";
import type { ConversationData, OpenTurn } from "./data.ts";
import { cutFor, interruptedResults, showingSomething } from "./decide-step.ts";
import type { ConversationMachine } from "./machine.ts";
import { kernel } from "./machine.ts";
import type { State } from "./state.ts";
import { answerFrom, flushWaiting, settleRound } from "./turn-closing.ts";

/** What a model call would be sent, and why. */
export interface Prompt {
  /** Well-formed. */
  readonly messages: readonly Message[];
  readonly digest: string;
  /** As the machine's counter counts them; null where it can't. */
  readonly tokens: number | null;
  /** What is left out. */
  readonly cut: Cut;
  /** The policy's reason for leaving it out. */
  readonly reason: string;
  /** Why the policy could not be used, and everything is shown instead. */
  readonly failed?: string;
}

/**
 * What the next model call would see if it were made now. Pure and total. Calls that are still out are shown
 * with a result that says so, marked as synthesised.
 */
export const promptOf = (machine: ConversationMachine, state: State): Prompt => {
  const { settings } = machine[kernel];
  const data = state.context;
  const open = data.open === null ? null : withoutGaps(data.open);
  const saysNothing = open !== null && open.messages.length === 0;
  const { cut, reason, failed } = (saysNothing ? showingSomething : cutFor)(settings, data, () => open);
  const messages = render(data.conversation, cut, data.conversation.system, openMessages(data, open));
  return {
    messages,
    digest: digestOfPrompt(messages),
    tokens: tokensOf(settings.counter, messages),
    cut,
    reason,
    ...(failed === undefined ? {} : { failed }),
  };
};

/** Total: a counter may be anybody's code. */
const tokensOf = (counter: Counter, messages: readonly Message[]): number | null => {
  try {
    const tokens = countPrompt(counter, messages);
    return Number.isFinite(tokens) ? tokens : null;
  } catch {
    return null;
  }
};

const openMessages = (data: ConversationData, open: OpenTurn | null): readonly Message[] =>
  open === null ? data.conversation.appended : toArray(open.messages);

const withoutGaps = (open: OpenTurn): OpenTurn => {
  if (open.stage.type !== "running") return flushWaiting(open);
  const { results = [] } = interruptedResults(open, "the prompt was looked at");
  return settleRound(open, answerFrom(open.stage.calls, results));
};
