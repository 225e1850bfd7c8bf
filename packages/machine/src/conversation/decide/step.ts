// Decides the next model call: what its prompt shows, whether that fits, and whether a summary comes first.
import { openTurn, withJoined } from "../update/turn-opening.ts";
import type { Decided, Fullness, SynthesisedResult } from "../protocol/entry.ts";
import type { ContextUnfit, LimitReached } from "../../thread/turn.ts";
import {
  type CutDecision,
  decideCut,
  keepingAll,
  sameCut,
  type Situation,
  wantedSummary,
} from "../../prompt/decide-cut.ts";
import { type Budget, defaultWaitMs, type SummaryTask } from "../../prompt/policy.ts";
import { type ConversationData, type OpenTurn, type QueuedAsk, remembered, type RoundCall } from "../protocol/data.ts";
import type { Limits } from "../protocol/limits.ts";
import type { Settings } from "./settings.ts";
import { turnsNewestFirst } from "../../thread/thread.ts";
import { toArray } from "../../thread/chunks.ts";
import { frozen } from "../../thread/plain-data.ts";
import type { Message } from "../../thread/message.ts";
import { counted } from "../../prompt/counts.ts";
import { type Cut } from "../../prompt/cut.ts";
import { nowhere } from "../../prompt/unit.ts";
import type { Blocks } from "../../prompt/blocks.ts";
import { blocksOf, type PromptParts, render } from "../../prompt/render.ts";
import { leastRequest, longestTranscriptText, summaryRequest } from "../../prompt/summary-request.ts";

/** Decides the opening of a turn: its deadline, and the first prompt or the limit that forbids it. */
export const decideOpening = (
  settings: Settings,
  data: ConversationData,
  asks: readonly QueuedAsk[],
  at: number,
): Decided => {
  const limits = asks.reduce<Limits>(
    (all, ask) => (ask.limits === undefined ? all : { ...all, ...ask.limits }),
    settings.limits,
  );
  const deadline = limits.deadlineMs === undefined ? {} : { deadlineAt: at + limits.deadlineMs };
  const limit = openingLimit(limits);
  if (limit !== null) return { limit };
  const open = () => openTurn(data, asks, deadline, at).data.open;
  const saysNothing =
    asks.every(({ input }) => typeof input !== "string" && input.length === 0) &&
    data.conversation.appended.length === 0;
  const step = decideStep(settings, data, { open, saysNothing, at });
  // A turn that ends at once needs no deadline.
  return step.unfit === undefined && limits.deadlineMs !== undefined ? { ...deadline, ...step } : step;
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
  const { keepAllCut } = settings;
  if (keepAllCut !== null && data.room === null && asked.saysNothing !== true)
    return sameCut(data.cut, keepAllCut) ? {} : { cut: keepAllCut };
  // A policy without summaries does not wait for one that an earlier policy requested.
  const mayHelp = asked.withoutSummary !== true && settings.policy.summariser !== undefined;
  const prompt =
    asked.withoutSummary === true ? decideWithoutSummary(settings, data, asked) : decidePrompt(settings, data, asked);
  const wanted = mayHelp ? decideSummary(settings, data, prompt.situation, prompt.cut) : {};
  const refused = refusedBy(prompt.failed ?? wanted.policyFailed);
  const reported = { ...wanted, ...fullness(settings, data, prompt), ...refused };
  if (prompt.fits) return { ...reported, ...shownBy(settings, prompt) };
  const isComing = data.summarising !== null || (wanted.summary !== undefined && wanted.summary.unfit === undefined);
  if (mayHelp && isComing) {
    const dueAt = asked.dueAt ?? asked.at + (settings.policy.summariser?.waitMs ?? defaultWaitMs);
    return { ...reported, compacting: { dueAt } };
  }
  // A policy that relies on summaries leaves out nothing while a summary may still arrive.
  if (mayHelp) return { ...wanted, ...refused, ...decideStep(settings, data, { ...asked, withoutSummary: true }) };
  return prompt.overBudget === null
    ? { ...reported, ...shownBy(settings, prompt) }
    : { ...reported, unfit: unfitOf(prompt, prompt.overBudget) };
};

const shownBy = (settings: Settings, prompt: PromptDecision): Decided => {
  const size = measurableSize(settings, prompt);
  return { ...(prompt.isNew ? { cut: prompt.cut } : {}), ...(size === null ? {} : { counted: size }) };
};

const refusedBy = (problem: string | undefined): Pick<Decided, "policyFailed"> =>
  problem === undefined ? {} : { policyFailed: problem };

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
  const { tokens, situation, isNew } = prompt;
  const { available } = situation;
  if (tokens === null || available === null) return {};
  // An unchanged cut made its room earlier.
  const pressed = prompt.pressed && isNew;
  const is = fullnessOf(tokens, available, pressed, settings.warnAt);
  return is === data.fullness ? {} : { fullness: { is, tokens, available } };
};

/** Returns the size of a prompt if it can calibrate the counter, or null. */
export const measurableSize = (
  { calibrate, budget }: Settings,
  { tokens, situation: { available } }: PromptDecision,
): number | null =>
  calibrate && budget !== null && tokens !== null && available !== null && tokens >= available * measurableShare
    ? tokens
    : null;

/** The share of the room from which a call's size shows the counter's error, and not what it cannot count. */
const measurableShare = 0.25;

const openingLimit = (limits: Limits): LimitReached | null => {
  const { steps, tokens, costNano, deadlineMs } = limits;
  if (steps === 0) return { limit: "steps", allowed: 0, reached: 1 };
  if (tokens === 0) return { limit: "tokens", allowed: 0, reached: 0 };
  if (costNano === 0) return { limit: "costNano", allowed: 0, reached: 0 };
  return deadlineMs === 0 ? { limit: "deadlineMs", allowed: 0, reached: 0 } : null;
};

/** Grades a prompt. It is also at its limit if something was left out for lack of room. */
const fullnessOf = (tokens: number, available: number, pressed: boolean, warnAt: number): Fullness => {
  if (pressed || tokens >= available) return "at_limit";
  return tokens >= available * warnAt ? "approaching_limit" : "within";
};

/** The decision about the next prompt, and whether it fits. */
export interface PromptDecision extends CutDecision {
  /** Whether the cut differs from the last one. */
  readonly isNew: boolean;
  readonly situation: Situation;
  readonly blocks: () => Blocks;
  /** The size by the counter, without calibration. Null if there is no budget, or if the counter fails. */
  readonly tokens: number | null;
  readonly fits: boolean;
  /**
   * The numbers of a prompt that exceeds the budget. Null for one that exceeds only the smaller room learned from a
   * server's refusal: the server decides.
   */
  readonly overBudget: OverBudget | null;
}

type OverBudget = Pick<ContextUnfit, "tokens" | "available" | "budget" | "reserve">;

interface Asked {
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
  const made = saysNothing ? showingSomething(settings, situation) : decideCut(settings.policy, situation);
  const decision = { ...made, isNew: !sameCut(data.cut, made.cut), situation };
  const blocks = (): Blocks => blocksOf(situation, decision.cut, settings.counts);
  if (situation.available === null) return { ...decision, blocks, tokens: null, fits: true, overBudget: null };
  const shown = blocks();
  const tokens = counted(() => settings.counts.blocks(shown));
  const counting = tokens === null ? { failed: decision.failed ?? uncounted(settings) } : {};
  const fits = tokens === null || tokens <= situation.available;
  const overBudget = tokens === null ? null : overBudgetOf(settings, situation, tokens);
  return { ...decision, ...counting, blocks: () => shown, tokens, fits, overBudget };
};

/** Decides the next prompt as if the call were made now, without waiting for a summary. */
export const decideNow = (settings: Settings, data: ConversationData, asked: Asked): PromptDecision => {
  const usual = decidePrompt(settings, data, asked);
  return usual.fits || settings.policy.summariser === undefined ? usual : decideWithoutSummary(settings, data, asked);
};

/**
 * Decides the next prompt as if no summary will arrive. The policy is then asked as usual, with that cut as the last
 * one: if the result fits, it is what the next prompt would show, so this one shows it already.
 */
export const decideWithoutSummary = (settings: Settings, data: ConversationData, asked: Asked): PromptDecision => {
  const without = decidePrompt(settings, data, { ...asked, withoutSummary: true });
  const usual = decidePrompt(settings, { ...data, cut: frozen(without.cut) }, { ...asked, withoutSummary: false });
  return usual.fits ? { ...usual, isNew: !sameCut(data.cut, usual.cut) } : without;
};

/** Collects the input of a policy for the next prompt. */
export const situationOf = (settings: Settings, data: ConversationData, asked: Asked): Situation => {
  const { budget, interrupted, counts } = settings;
  const calibration = calibrationOf(settings, data);
  let opened: OpenTurn | null | undefined;
  let messages: readonly Message[] | null = null;
  const open = (): OpenTurn | null => (opened === undefined ? (opened = asked.open()) : opened);
  return {
    thread: data.conversation,
    system: data.conversation.system,
    open: () => (messages ??= openMessages(data, open())),
    isOpen: () => open() !== null,
    interrupted,
    counts,
    budget,
    calibration,
    available: smallerOf(budget === null ? null : roomOf(budget, calibration), data.room?.tokens ?? null),
    lastCut: data.cut,
    withoutSummary: asked.withoutSummary === true,
    summaries: data.summarising === null ? data.summaries : data.summaries - 1,
  };
};

/** Returns the tokens that a budget leaves for a prompt, in the counter's units. */
const roomOf = ({ tokens, reserve }: Budget, calibration: number): number =>
  Math.floor((tokens - reserve) / calibration);

const overBudgetOf = ({ budget }: Settings, { calibration }: Situation, tokens: number): OverBudget | null => {
  if (budget === null) return null;
  const available = roomOf(budget, calibration);
  return tokens <= available ? null : { tokens, available, budget: budget.tokens, reserve: budget.reserve };
};

const smallerOf = (left: number | null, right: number | null): number | null => {
  if (left === null || right === null) return left ?? right;
  return Math.min(left, right);
};

/** Cuts a prompt to the minimum: pinned messages, and the questions that belong to shown answers. */
const nothingClosed = ({ interrupted }: Situation): Cut => ({ policy: "none@1", from: nowhere, interrupted });

const unfitOf = ({ situation }: PromptDecision, over: OverBudget): ContextUnfit => {
  const { counts, open } = situation;
  const largest = open().reduce<ContextUnfit["largest"]>((most, message) => {
    const size = counted(() => counts.message(message)) ?? 0;
    return most === null || size > most.tokens ? { message: message.id, tokens: size } : most;
  }, null);
  return {
    ...over,
    fixed: counted(() => counts.blocks(blocksOf(situation, nothingClosed(situation), counts))) ?? 0,
    largest,
  };
};

/** Returns how many tokens a model reports for each counted one: at least 1, so no report makes prompts larger. */
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
  const closed: PromptParts = { thread: situation.thread, system: null, open: () => [], isOpen: () => false };
  const decision = decideCut(settings.policy, situation);
  if (render(closed, decision.cut).length > 0) return decision;
  const all = keepingAll("keep", `${decision.cut.policy} shows nothing of the thread, and the ask says nothing itself`);
  const isNeeded = decision.cut.system !== undefined || render(closed, all.cut).length > 0;
  return isNeeded ? all : decision;
};

const openMessages = ({ conversation }: ConversationData, open: OpenTurn | null): readonly Message[] =>
  // The next prompt of the turn shows the asks that joined it.
  open === null ? conversation.appended : toArray(withJoined(open).messages);

const uncounted = ({ counts: { counter } }: Settings): string =>
  `counter "${counter.name}@${counter.version}" could not count the prompt, so it is not known whether it fits`;

/**
 * Returns the summary to ask for now, if none is pending. The model reads what prompts would show of the turns. Each
 * text is shortened until the request fits; if it never fits, no request is sent.
 *
 * @param cut how the next prompt shows the thread; decided here if it is missing.
 */
export const decideSummary = (
  settings: Settings,
  data: ConversationData,
  situation: Situation,
  cut?: Cut,
): Pick<Decided, "summary" | "policyFailed"> => {
  // A machine that was changed without `thread.configured` has no instruction for a summary yet.
  const { summariser } = data.configuration;
  if (data.summarising !== null || summariser === undefined) return {};
  const wanted = wantedSummary(settings.policy, situation);
  if (wanted === null) return {};
  if (typeof wanted === "string") return { policyFailed: wanted };
  const { fields } = cut ?? decideCut(settings.policy, situation).cut;
  const task: SummaryTask = {
    ...wanted,
    ...(settings.interrupted === "omit" ? { interrupted: "omit" } : {}),
    ...(fields === undefined ? {} : { fields }),
  };
  const summary = fitted(settings, data, situation, task, summariser.instruction);
  return summary.unfit !== undefined && isKnownUnfit(settings, data, summary.unfit, summariser.instruction)
    ? {}
    : { summary };
};

const fitted = (
  { counts, policy }: Settings,
  data: ConversationData,
  { available }: Situation,
  task: SummaryTask,
  instruction: string,
): SummaryTask => {
  const room = policy.summariser?.requestTokens ?? available;
  if (room === null) return task;
  // A request that cannot be counted is sent, and may turn out to be too long.
  const tokensOf = (shortened: SummaryTask): number =>
    counted(() => counts.prompt(summaryRequest(data.conversation, shortened, instruction, data.summaries))) ?? 0;
  let tokens = 0;
  for (const characters of ladder) {
    const shortened = characters === longestTranscriptText ? task : { ...task, characters };
    tokens = tokensOf(shortened);
    if (tokens <= room) return shortened;
  }
  const shortest = { ...task, characters: shortestText };
  // Earlier turns that only give background can be left out. Those that are folded into the summary cannot.
  if (task.earlier !== null && task.earlier.from !== task.covers.from) {
    const alone = { ...shortest, earlier: null };
    tokens = tokensOf(alone);
    if (tokens <= room) return alone;
  }
  return { ...task, unfit: { tokens, available: room } };
};

/**
 * Returns whether enough failed summaries were reported, including those for lack of room. If the instruction alone is
 * too long, one failure is enough. Otherwise each failure makes the next attempt rarer, since a shorter turn may fit.
 * A request that fits after the room grew or the instruction shrank is sent at once. The number of turns to look back
 * is bounded, and so is the cost.
 */
const isKnownUnfit = (
  { counts }: Settings,
  { conversation }: ConversationData,
  { available }: NonNullable<SummaryTask["unfit"]>,
  instruction: string,
): boolean => {
  const least = counted(() => counts.prompt(leastRequest(instruction)));
  const neverFits = least !== null && least > available;
  let failures = 0;
  let sinceNewest = 0;
  let seen = 0;
  for (const { summaryFailures = 0 } of turnsNewestFirst(conversation)) {
    failures += summaryFailures;
    if (failures === 0) sinceNewest++;
    if (++seen >= remembered) break;
  }
  return neverFits ? failures > 0 : failures >= triedFreely && sinceNewest < failures;
};

/** Two turns with two attempts each, as the shipped policies make them. */
const triedFreely = 4;

/** In UTF-16 units. */
const shortestText = 100;

const ladder: readonly number[] = [longestTranscriptText, 4_000, 2_000, 1_000, 500, 200, shortestText];
