import { toArray } from "../../thread/chunks.ts";
import { frozen } from "../../thread/frozen.ts";
import type { Message } from "../../thread/message.ts";
import type { ContextUnfit } from "../../thread/turn.ts";
import { counted } from "../../prompt/counts.ts";
import { type CutDecision, decideCut, keepingAll, type Situation } from "../../prompt/decide-cut.ts";
import type { Cut } from "../../prompt/cut.ts";
import { nowhere } from "../../prompt/position.ts";
import type { Blocks } from "../../prompt/blocks.ts";
import { blocksOf, render } from "../../prompt/render.ts";
import type { ConversationData, OpenTurn } from "../protocol/data.ts";
import { withJoined } from "../update/joining.ts";
import type { Settings } from "./settings.ts";

/** The decision about the next prompt, and whether it fits. */
export interface PromptDecision extends CutDecision {
  readonly situation: Situation;
  readonly blocks: () => Blocks;
  /** The size by the counter, without calibration. Null if there is no budget, or if the counter fails. */
  readonly tokens: number | null;
  readonly fits: boolean;
  /**
   * True if the prompt fits the budget, even if it exceeds the smaller room learned from a server's refusal. The
   * server decides.
   */
  readonly mayFit: boolean;
}

/** The inputs of a decision about a prompt. */
export interface Asked {
  /** Read only by policies that look at the open turn, and if there is a budget. */
  readonly open: () => OpenTurn | null;
  /** True if the turn holds no message yet. */
  readonly saysNothing?: boolean;
  /** True if the turn has already waited for a summary. */
  readonly withoutSummary?: boolean;
}

/** Asks the policy about the next prompt of a thread, and counts the tokens of the result. Never throws. */
export const decidePrompt = (settings: Settings, data: ConversationData, asked: Asked): PromptDecision => {
  const situation = situationOf(settings, data, asked);
  const saysNothing = asked.saysNothing === true && (data.open === null || data.open.joining.length === 0);
  const decision = saysNothing ? showingSomething(settings, situation) : decideCut(settings.policy, situation);
  const blocks = (): Blocks =>
    blocksOf(situation.thread, decision.cut, situation.system, situation.open(), settings.counts);
  if (situation.available === null) return { ...decision, situation, blocks, tokens: null, fits: true, mayFit: true };
  const shown = blocks();
  const tokens = counted(() => settings.counts.blocks(shown));
  const counting = tokens === null ? { failed: decision.failed ?? uncounted(settings) } : {};
  const fits = tokens === null || tokens <= situation.available;
  const inBudget = roomOf(settings, situation.calibration);
  const mayFit = fits || inBudget === null || tokens <= inBudget;
  return { ...decision, ...counting, situation, blocks: () => shown, tokens, fits, mayFit };
};

/**
 * Collects the input of a policy for the next prompt. Messages and closed turns never change once created, including
 * those of a rehearsal.
 */
export const situationOf = (settings: Settings, data: ConversationData, asked: Asked): Situation => {
  const { budget, interrupted, counts } = settings;
  const calibration = calibrationOf(settings, data);
  let messages: readonly Message[] | null = null;
  return {
    thread: data.conversation,
    system: data.conversation.system,
    open: () => (messages ??= openMessages(data, asked.open())),
    interrupted,
    counts,
    budget,
    calibration,
    available: smallerOf(roomOf(settings, calibration), data.room?.tokens ?? null),
    lastCut: frozen(data.cut),
    withoutSummary: asked.withoutSummary === true,
    summaries: data.summarising === null ? data.summaries : data.summaries - 1,
  };
};

/** Returns the tokens that the budget leaves for a prompt, in the counter's units; null for no bound. */
const roomOf = ({ budget }: Pick<Settings, "budget">, calibration: number): number | null =>
  budget === null ? null : Math.floor((budget.tokens - budget.reserve) / calibration);

const smallerOf = (left: number | null, right: number | null): number | null => {
  if (left === null || right === null) return left ?? right;
  return Math.min(left, right);
};

/** Cuts a prompt to the minimum: pinned messages, and the questions that belong to shown answers. */
const nothingClosed = ({ interrupted }: Situation): Cut => ({ policy: "none@1", from: nowhere, interrupted });

/** Returns the numbers of a prompt that does not fit. */
export const unfitOf = ({ situation, tokens }: PromptDecision): ContextUnfit => {
  const { counts, open, budget, calibration } = situation;
  const largest = open().reduce<ContextUnfit["largest"]>((most, message) => {
    const size = counted(() => counts.message(message)) ?? 0;
    return most === null || size > most.tokens ? { message: message.id, tokens: size } : most;
  }, null);
  return {
    tokens: tokens ?? 0,
    available: roomOf({ budget }, calibration) ?? 0,
    budget: budget?.tokens ?? 0,
    reserve: budget?.reserve ?? 0,
    fixed:
      counted(() =>
        counts.blocks(blocksOf(situation.thread, nothingClosed(situation), situation.system, open(), counts)),
      ) ?? 0,
    largest,
  };
};

/**
 * Returns how many tokens a model reports for each counted one. It is never below 1, so that a nonsensical report
 * cannot make prompts larger.
 */
const calibrationOf = ({ calibrate, budget }: Settings, { measured }: ConversationData): number => {
  if (!calibrate || budget === null || measured === null) return 1;
  const ratio = Math.max(1, Math.round((measured.reported / measured.counted) * 100) / 100);
  return ratio > largestCalibration ? 1 : ratio;
};

/** A report that differs by more than this factor is ignored. */
const largestCalibration = 4;

/**
 * Decides the prompt of an ask without input. Such an ask needs some of the thread, so the policy must show something
 * of it. If the thread holds only a system prompt, the prompt is that alone.
 */
const showingSomething = (settings: Settings, situation: Situation): CutDecision => {
  const { thread } = situation;
  const decision = decideCut(settings.policy, situation);
  if (render(thread, decision.cut, null, []).length > 0) return decision;
  const all = keepingAll("keep", `${decision.cut.policy} shows nothing of the thread, and the ask says nothing itself`);
  const isNeeded = decision.cut.system !== undefined || render(thread, all.cut, null, []).length > 0;
  return isNeeded ? all : decision;
};

const openMessages = ({ conversation }: ConversationData, open: OpenTurn | null): readonly Message[] =>
  // The next prompt of the turn shows the asks that joined it.
  open === null ? conversation.appended : toArray(withJoined(open).messages);

const uncounted = ({ counts: { counter } }: Settings): string =>
  `counter "${counter.name}@${counter.version}" could not count the prompt, so it is not known whether it fits`;
