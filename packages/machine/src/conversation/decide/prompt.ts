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

/** What the next prompt shows, and whether it fits. */
export interface PromptDecision extends CutDecision {
  readonly situation: Situation;
  readonly blocks: () => Blocks;
  /** As the counter counts them, calibration aside; null where there is no budget, or it can't count them. */
  readonly tokens: number | null;
  readonly fits: boolean;
  /** It fits the budget, though not the smaller room that a refusal taught: the server is to say. */
  readonly mayFit: boolean;
}

/** What is known where a prompt is decided. */
export interface Asked {
  /** Asked only by policies that look at the open turn, and where there is a budget. */
  readonly open: () => OpenTurn | null;
  /** The turn holds no message yet. */
  readonly saysNothing?: boolean;
  /** A summary was waited for. */
  readonly withoutSummary?: boolean;
}

/** Asks the policy about the next prompt of a thread, and counts what that comes to. Total. */
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

/** All that a policy is asked with about the next prompt. Messages and closed turns are immutable from their birth on, also those that are rehearsed. */
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

/** Tokens, as the counter counts them, that the budget leaves for a prompt; null for no bound. */
const roomOf = ({ budget }: Pick<Settings, "budget">, calibration: number): number | null =>
  budget === null ? null : Math.floor((budget.tokens - budget.reserve) / calibration);

const smallerOf = (left: number | null, right: number | null): number | null => {
  if (left === null || right === null) return left ?? right;
  return Math.min(left, right);
};

/** The prompt that leaves out all that may be: what is pinned stays, and the questions that go with what is shown. */
const nothingClosed = ({ interrupted }: Situation): Cut => ({ policy: "none@1", from: nowhere, interrupted });

/** The numbers of a prompt that does not fit. */
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
 * How many tokens a model reports for one that is counted: never less than one, so that a report which makes no
 * sense can't make prompts larger.
 */
const calibrationOf = ({ calibrate, budget }: Settings, { measured }: ConversationData): number => {
  if (!calibrate || budget === null || measured === null) return 1;
  const ratio = Math.max(1, Math.round((measured.reported / measured.counted) * 100) / 100);
  return ratio > largestCalibration ? 1 : ratio;
};

/** A report that is further off makes no sense. */
const largestCalibration = 4;

/**
 * An ask that says nothing lives from what is shown of the thread, so a policy must show something of it; only a
 * thread that holds nothing but its system prompt is asked with that alone.
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
  // What joined the turn stands in its next prompt.
  open === null ? conversation.appended : toArray(withJoined(open).messages);

const uncounted = ({ counts: { counter } }: Settings): string =>
  `counter "${counter.name}@${counter.version}" could not count the prompt, so it is not known whether it fits`;
