import {
  type Budget,
  type CallLlm,
  type ContextUnfit,
  type LaterEntry,
  type MachineOptions,
  messagesOf,
  type ReplyDraft,
  type State,
} from "@colloquy/machine";
import { type Counter, countPrompt, estimateCounter } from "@colloquy/machine/policies";
import { brokenBy, wordsOf } from "../../laws/evidence/law-broken.ts";
import { refusedMessages, saidUnits } from "../../laws/evidence/said-units.ts";
import { draftsOfAsk } from "../../laws/evidence/utterance.ts";
import { requireSubsequence, requireWhole } from "../../laws/policy/shown.ts";
import { requireLines } from "../../laws/policy/stable.ts";
import { summaryRequestTokens } from "../script/made-up-script.ts";
import type { Law } from "../world/world.ts";

/** The rules for the size of prompts, and the known properties of the policy. */
export interface PromptRules {
  readonly budget: Budget | null;
  readonly counter: Counter;
  readonly calibrate: boolean;
  /** Whether the policy is one of ours, which does not fail. */
  readonly isOurs: boolean;
  /** Whether the policy makes room by leaving out everything that can be left out. */
  readonly findsRoom: boolean;
}

export const rulesOf = (
  { budget = null, counter = estimateCounter, calibrate = true }: MachineOptions,
  known: Pick<PromptRules, "isOurs" | "findsRoom">,
): PromptRules => ({ budget, counter, calibrate, ...known });

export type Broken = readonly [law: Law, what: string];

/** Checks the laws on an entry's decision about prompts; returns null if it keeps them. */
export const brokenByDecision = (rules: PromptRules, { seq, decided }: LaterEntry, after: State): Broken | null => {
  if (decided?.policyFailed !== undefined && rules.isOurs && !decided.policyFailed.includes(showsNothing))
    return ["M2", `entry ${seq} says that a policy of ours failed: ${decided.policyFailed}`];
  return decided?.unfit === undefined ? null : brokenByUnfit(rules, seq, decided.unfit, after);
};

/** A policy may show nothing, also to an ask without content. Then the machine shows everything. */
const showsNothing = "shows nothing of the thread";

const brokenByUnfit = (rules: PromptRules, seq: number, unfit: ContextUnfit, after: State): Broken | null => {
  const { tokens, available, fixed } = unfit;
  if (tokens <= available) return ["P4", `entry ${seq} says that ${tokens} tokens do not fit where ${available} do`];
  // If the ask has no content, the shown messages of the thread take the place of the question.
  const turn = after.context.conversation.turns.length;
  const saysNothing = !messagesOf(after).some(({ id }) => id.startsWith(`${turn}.`));
  return rules.findsRoom && fixed <= available && !saysNothing
    ? ["P4", `entry ${seq} says that the prompt does not fit, and ${fixed} of ${available} tokens would do`]
    : null;
};

/** Checks the laws on the prompt of a call that was just requested; returns null if it keeps them. */
export const brokenByPrompt = (rules: PromptRules, call: CallLlm, state: State): Broken | null =>
  call.purpose === "summary" ? beyondBudget(rules, call, state) : brokenByAnswer(rules, call, state);

const brokenByAnswer = (rules: PromptRules, call: CallLlm, state: State): Broken | null =>
  beyondBudget(rules, call, state) ?? otherwiseShown(rules, call, state);

/** Checks P4: the prompt that is sent fits. */
const beyondBudget = ({ budget, counter, calibrate }: PromptRules, call: CallLlm, state: State): Broken | null => {
  if (budget === null) return null;
  const { measured } = state.context;
  const ratio = measured === null || !calibrate ? 1 : Math.round((measured.reported / measured.counted) * 100) / 100;
  // A ratio further off is ignored as implausible.
  const room = Math.floor((budget.tokens - budget.reserve) / (ratio > 4 ? 1 : Math.max(1, ratio)));
  const available = call.purpose === "summary" ? summaryRequestTokens : room;
  const tokens = countPrompt(counter, call.messages);
  return tokens <= available ? null : ["P4", `"${call.id}" has ${tokens} tokens, and there is room for ${available}`];
};

/** Checks P1, P3 and P8 as the laws of pruning do. */
const otherwiseShown = ({ budget }: PromptRules, { id, messages }: CallLlm, state: State): Broken | null => {
  const stage = state.context.open?.stage;
  if (stage?.type !== "responding") return null;
  const { cut } = stage.call;
  const shown = { state, budget, said: saidUnits(state), prompt: { messages, cut, reason: `it was sent as "${id}"` } };
  const broken = brokenBy(() => {
    requireSubsequence(shown);
    requireWhole(shown);
    requireLines(shown, cut.interrupted === "omit");
  });
  // The three checks break the laws that are named above.
  return broken === null ? null : [broken.law as Law, wordsOf(broken)];
};

/** Checks P10: the outcome of a summary changes no message, and an empty or incomplete summary is not used. */
export const brokenBySummary = (before: State, { seq, event, decided }: LaterEntry, after: State): Broken | null => {
  const { summarising } = before.context;
  if (summarising === null || event.type !== "llm.completed") return null;
  if (!event.effectId.endsWith(`/summary-${summarising.number}#1`)) return null;
  if (messagesOf(before).length + joinedBy(before, after) - asideOf(before, after) !== messagesOf(after).length)
    return ["P10", `entry ${seq} holds a summary, and changes what was said`];
  const { content, toolCalls = [] } = event.reply;
  const isUsable = toolCalls.length === 0 && event.finishReason !== "length" && !isBlank(content);
  return isUsable || decided?.summaryFailed !== undefined
    ? null
    : ["P10", `entry ${seq} holds no summary that could be used, and it is used`];
};

/** Returns the number of messages of asks that the call shows and that waited for the summary. */
const joinedBy = ({ context: { open } }: State, after: State): number =>
  (open?.joining ?? [])
    .filter(({ askId }) => after.context.open?.asks.some((ask) => ask.askId === askId) === true)
    .flatMap(draftsOfAsk).length;

/** Counts the messages of refused answers that are set aside when a turn ends for lack of room. */
const asideOf = ({ context: { open } }: State, after: State): number =>
  open === null || after.context.open?.number === open.number ? 0 : refusedMessages(open).length;

const isBlank = (content: ReplyDraft["content"]): boolean => typeof content !== "string" || content.trim() === "";
