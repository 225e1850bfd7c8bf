import type { Message } from "../thread/message.ts";
import { counted } from "../prompt/counts.ts";
import type { SummarisedTurns } from "../prompt/cut.ts";
import { sameCut } from "../prompt/decide-cut.ts";
import { explainUnits, tokensOfAll, tokensOfPrompt, type UnitExplanation } from "../prompt/explain-units.ts";
import type { Budget } from "../prompt/policy.ts";
import { blocksOf } from "../prompt/render.ts";
import { summaryMessage } from "../prompt/summary-message.ts";
import { decidePrompt, type PromptDecision } from "../conversation/decide/prompt.ts";
import type { Settings } from "../conversation/decide/settings.ts";
import { type ConversationMachine, internals } from "../conversation/machine.ts";
import { nextPrompt, promptAsDecided } from "../conversation/prompt-of.ts";
import { ownedState, type State } from "../conversation/protocol/state.ts";

/** The next prompt, unit by unit. All tokens are as the machine's counter counts them; null where it can't. */
export interface Explanation {
  /** In the order of the thread. What they are shown as, one after the other with the summary behind the system message, is the prompt. */
  readonly units: readonly UnitExplanation[];
  /** The message that stands for older turns; null where none does. */
  readonly summary: SummaryExplanation | null;
  readonly tokens: number | null;
  /** Of `tokens`, what no message accounts for: what the counter lays around a prompt. */
  readonly besideTokens: number | null;
  /** What the prompt would take if the whole path were shown. */
  readonly wholeTokens: number | null;
  /** What there is room for: the budget without its reserve, calibrated; null for no bound. */
  readonly available: number | null;
  /** `tokens` as a share of `available`; null where either is unknown, or there is no room at all. */
  readonly share: number | null;
  /** What does not fit is not sent. */
  readonly fits: boolean;
  readonly budget: Budget | null;
  /** How many tokens a model reports for one that is counted; 1 while nothing is known. */
  readonly calibration: number;
  /** Who decided: `name@version`. */
  readonly policy: string;
  /** Why it leaves out what it leaves out. */
  readonly reason: string;
  /** Why the policy could not be used, and everything is shown instead; or that the counter could not count the prompt, which is then as the policy decided. */
  readonly failed?: string;
}

/** The message that shows turns as their summaries. */
export interface SummaryExplanation {
  readonly turns: SummarisedTurns;
  readonly message: Message;
  readonly tokens: number | null;
}

/**
 * What the next prompt shows of each unit of the thread, by which rule, and at what cost: what `promptOf` sends,
 * seen from the other side. Pure and total. Walks the whole path, where a prompt costs only what it shows.
 *
 * @throws SnapshotDamagedError where the state was read from a snapshot, and a part that is needed can't be read.
 */
export const explain = (machine: ConversationMachine, state: State): Explanation => {
  const { settings } = machine[internals];
  return explanationOf(settings, nextPrompt(settings, state));
};

/**
 * The same of the model call that is outstanding: what it was sent, by the cut that the journal has, whatever a machine
 * would decide now; null where none is, summaries not counted. Reasons are not journalled: they are the machine's own
 * where it cuts as was cut. The machine also says what is counted, and what there is room for.
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
  // What came while it is out is not in it.
  const asSent = { ...open, joining: [], waiting: [] };
  const decided = decidePrompt(settings, { ...context, conversation, cut, open: asSent }, { open: () => asSent });
  if (sameCut(cut, decided.cut)) return explanationOf(settings, decided);
  const { situation, mayFit } = decided;
  const blocks = blocksOf(situation.thread, cut, system, situation.open(), settings.counts);
  const tokens = counted(() => settings.counts.blocks(blocks));
  const fits = situation.available === null || tokens === null || tokens <= situation.available;
  const reason = `as ${cut.policy} decided then`;
  return explanationOf(settings, {
    cut,
    reason,
    pressed: false,
    situation,
    blocks: () => blocks,
    tokens,
    fits,
    mayFit,
  });
};

const explanationOf = (settings: Settings, decision: PromptDecision): Explanation => {
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

/** A share of the room; null where it is not known. */
export const shareOf = (tokens: number | null, available: number | null): number | null =>
  tokens === null || available === null || available <= 0 ? null : tokens / available;

const minus = (left: number | null, right: number | null): number | null =>
  left === null || right === null ? null : left - right;
