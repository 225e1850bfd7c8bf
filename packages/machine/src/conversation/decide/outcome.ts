import { partsOf } from "../../prompt/prompts.ts";
import { blocksOf } from "../../prompt/render.ts";
import { counted } from "../../prompt/counts.ts";
import { toArray } from "../../thread/chunks.ts";
import { frozen, type JsonObject } from "../../thread/plain-data.ts";
import type { ToolCallDraft } from "../../thread/message.ts";
import { type Cost, type ReportedUsage, type Usage, usageMonoid, usageOfCall } from "../../thread/usage.ts";
import type { LimitReached, Failure } from "../../thread/turn.ts";
import type { ConversationData, OpenTurn, RoundCall } from "../protocol/data.ts";
import { decideStep, decidePrompt, situationOf, decideSummary } from "./step.ts";
import { limitBeforeBatch, limitBeforeCall, limitSpent } from "./limits.ts";
import { retryId, allAnswered, positionNamedBy } from "../protocol/effect-id.ts";
import type {
  ApprovalAnswered,
  LlmCompleted,
  LlmFailed,
  OutputAccepted,
  OutputRefused,
  ToolCompleted,
  ToolFailed,
} from "../protocol/event.ts";
import type { Decided, SynthesisedResult } from "../protocol/entry.ts";
import { mayRepair } from "../update/output.ts";
import { measuredBy } from "../update/reply.ts";
import type { Pricing, Retry } from "./options.ts";
import { isCallers } from "../update/turn-opening.ts";
import type { Settings } from "./settings.ts";
import { update } from "../update/update.ts";
import { digestOf } from "../../thread/make-message.ts";

/** Decides what follows from a reply: refused calls, limits for the whole batch, and the next prompt. */
export const decideReply = (
  settings: Settings,
  data: ConversationData,
  open: OpenTurn,
  event: LlmCompleted,
): Decided => {
  const cost = costOf(settings, event, open.model);
  const calls = event.reply.toolCalls ?? [];
  if (calls.length === 0 && open.output !== undefined) {
    const unchecked = whyUnchecked(event);
    if (unchecked === null) return cost;
    return decideAfterTurn(settings, data, { ...cost, unchecked }, event);
  }
  const used = usedAfter(open, event, cost);
  if (calls.length === 0) return withAnswerThere(settings, data, open, cost, event, used);
  const limit = limitBeforeBatch(settings, open, calls.length, event.at, used);
  if (limit !== null)
    return { ...cost, limit, results: calls.map((_, position) => refused(position, `Not run: ${inWords(limit)}.`)) };
  if (saysCut(event.finishReason)) {
    const results = resultsOfCutCalls(calls, event.finishReason);
    return withNextStep(settings, data, open, { ...cost, results }, event, used);
  }
  const results = calls.flatMap((call, position) =>
    isKnown(settings, open, call.name) ? [] : [unknownTool(settings, open, call.name, position)],
  );
  const known = results.length === 0 ? cost : { ...cost, results };
  if (results.length < calls.length) return { ...known, ...approvalsFor(settings, open, calls) };
  return withNextStep(settings, data, open, known, event, used);
};

/** Decides what follows when an answer was accepted or refused as the requested output. */
export const decideCheck = (
  settings: Settings,
  data: ConversationData,
  open: OpenTurn,
  event: OutputAccepted | OutputRefused,
): Decided => {
  if (event.type === "output.accepted") return withAnswerThere(settings, data, open, {}, event);
  return mayRepair(open, event)
    ? withNextStep(settings, data, open, {}, event)
    : decideAfterTurn(settings, data, {}, event);
};

/** Returns why a reply cannot be an output, or null if it may be one. */
const whyUnchecked = ({ reply, finishReason }: LlmCompleted): "refused" | "cut" | null => {
  const { content } = reply;
  if (typeof content === "object" && content.some(({ type }) => type === "refusal")) return "refused";
  return saysCut(finishReason) ? "cut" : null;
};

/** Decides what follows from the last result of a round: the next prompt, or the limit that forbids it. */
export const decideResult = (
  settings: Settings,
  data: ConversationData,
  open: OpenTurn,
  calls: readonly RoundCall[],
  event: ToolCompleted | ToolFailed | ApprovalAnswered,
): Decided => {
  return allAnswered(calls, positionNamedBy(event.effectId)) ? withNextStep(settings, data, open, {}, event) : {};
};

/** Decides what follows from a failed call: another attempt, if it may help and is allowed. */
export const decideFailure = (
  settings: Settings,
  data: ConversationData,
  open: OpenTurn,
  attempt: number,
  event: LlmFailed,
): Decided => {
  const cost = costOf(settings, event, open.model);
  const used = usedAfter(open, event, cost);
  const next = attempt + 1;
  if (event.failure.kind === "context_length") {
    const room =
      limitSpent(settings, open, event.at, used) === null ? smallerRoom(settings, data, open, event.at) : null;
    return room === null ? cost : { ...cost, room, retry: { attempt: next, dueAt: event.at } };
  }
  const dueAt = retryAt(
    settings.retry,
    event.failure,
    next,
    event.at,
    retryId(data.threadId, open.number, open.step, next),
  );
  if (dueAt === null || limitSpent(settings, open, dueAt, used) !== null) return cost;
  return { ...cost, retry: { attempt: next, dueAt } };
};

/**
 * Returns the room for a second try of a prompt that was too long for the server. It is half of the prompt's counted
 * size. Returns null if this turn has tried it already, or if the prompt cannot be counted. Also returns null if the
 * policy has nothing more to leave out.
 */
export const smallerRoom = (settings: Settings, data: ConversationData, open: OpenTurn, at: number): number | null => {
  if (open.stage.type !== "responding" || data.room?.turn === open.number) return null;
  const { call } = open.stage;
  const thread = { ...data.conversation, pins: call.pins };
  const shown = blocksOf(partsOf(thread, call.system, toArray(open.messages)), call.cut, settings.counts);
  const tokens = counted(() => settings.counts.blocks(shown));
  if (tokens === null) return null;
  const room = Math.floor(tokens / 2);
  const asked = { open: () => open, saysNothing: open.messages.length === 0, at };
  const { cut } = decidePrompt(settings, data, asked);
  const smaller = { ...data, cut: frozen(cut), room: { tokens: room, turn: open.number } };
  const next = decideStep(settings, smaller, asked);
  return next.cut === undefined && next.compacting === undefined ? null : room;
};

const usedAfter =
  (open: OpenTurn, { usage }: LlmCompleted | LlmFailed, { cost }: { readonly cost?: Cost }) =>
  (): Usage =>
    usageMonoid.concat(open.usage, usageOfCall(usage ?? null, cost ?? null));

const withNextStep = (
  settings: Settings,
  data: ConversationData,
  open: OpenTurn,
  decided: Decided,
  event: LlmCompleted | OutputAccepted | OutputRefused | ToolCompleted | ToolFailed | ApprovalAnswered,
  used?: () => Usage,
): Decided => {
  const limit = limitBeforeCall(settings, open, event.at, used);
  if (limit !== null) return { ...decided, limit };
  const measured = event.type === "llm.completed" ? measuredBy(data, event) : data.measured;
  const now = measured === data.measured ? data : { ...data, measured };
  const next = (): OpenTurn | null => update(data, event, decided).data.open;
  return { ...decided, ...decideStep(settings, now, { open: next, at: event.at }) };
};

/** Decides the end of a turn that has its answer. The turn continues if asks joined it. */
const withAnswerThere = (
  settings: Settings,
  data: ConversationData,
  open: OpenTurn,
  decided: Decided,
  event: LlmCompleted | OutputAccepted,
  used?: () => Usage,
): Decided => {
  const further = open.joining.length === 0 ? null : goingOn(settings, data, open, decided, event, used);
  return further ?? decideAfterTurn(settings, data, decided, event);
};

/** Continues a turn that has its answer for the asks that joined it; null if they cannot be shown at once. */
const goingOn = (
  settings: Settings,
  data: ConversationData,
  open: OpenTurn,
  decided: Decided,
  event: LlmCompleted | OutputAccepted,
  used?: () => Usage,
): Decided | null => {
  const next = withNextStep(settings, data, open, { ...decided, goesOn: true }, event, used);
  return next.limit === undefined && next.unfit === undefined && next.compacting === undefined ? next : null;
};

const approvalsFor = (
  { tools }: Settings,
  open: OpenTurn,
  calls: readonly ToolCallDraft[],
): Pick<Decided, "approvals"> => {
  const approvals = calls.flatMap(({ name }, position) =>
    !isCallers(open, name) && tools.some((tool) => tool.name === name && tool.approval === "always") ? [position] : [],
  );
  return approvals.length === 0 ? {} : { approvals };
};

/** Decides whether to ask for a summary after a turn. The answer is already stored. */
const decideAfterTurn = (
  settings: Settings,
  data: ConversationData,
  decided: Decided,
  event: LlmCompleted | OutputAccepted | OutputRefused,
): Decided => {
  if (settings.policy.summariser === undefined) return decided;
  const after = update(data, event, decided).data;
  return { ...decided, ...decideSummary(settings, after, situationOf(settings, after, { open: () => null })) };
};

/** Returns the cost of a call; the first of the model's names (reported, requested) that has a price counts. */
export const costOf = (
  settings: Settings,
  { model: reported, usage }: Pick<LlmCompleted, "model" | "usage">,
  model: JsonObject,
): { readonly cost?: Cost } => {
  if (settings.pricing === null || usage === undefined) return {};
  const known = [reported, model["model"]].filter((name) => typeof name === "string");
  for (const name of known.length === 0 ? [null] : known) {
    const cost = priceOf(settings.pricing, usage, name);
    if (cost !== null) return { cost };
  }
  return {};
};

/** Never throws, though foreign code may. A result that is not an amount of money counts as no price. */
const priceOf = (pricing: Pricing, usage: ReportedUsage, model: string | null): Cost | null => {
  try {
    const cost = pricing.price(usage, model);
    return cost !== null && Number.isSafeInteger(cost.nano) && cost.nano >= 0 && typeof cost.currency === "string"
      ? { nano: cost.nano, currency: cost.currency }
      : null;
  } catch {
    return null;
  }
};

const isKnown = (settings: Settings, open: OpenTurn, name: string): boolean =>
  settings.unknownTool === "ask" || settings.toolNames.has(name) || isCallers(open, name);

const unknownTool = (
  { toolNames }: Settings,
  { callerTools = [] }: OpenTurn,
  name: string,
  position: number,
): SynthesisedResult => {
  const known = new Set([...toolNames, ...callerTools.map((tool) => tool.name)]);
  return refused(position, `There is no tool "${name}". The tools are: ${[...known].join(", ") || "none"}.`);
};

const refused = (position: number, text: string): SynthesisedResult => ({
  position,
  outcome: "refused",
  content: [{ type: "text", text }],
});

const inWords = ({ limit, allowed }: LimitReached): string => `the limit of this turn (${limit} ${allowed}) is reached`;

/**
 * Returns when a failed call is retried, in milliseconds since the epoch, or null if it is not. The delay backs off
 * exponentially, with jitter between half and all of it. The jitter is derived from the timer's id, so the same
 * failure waits the same time in every replay. A wait that the server asked for is never shortened.
 */
const retryAt = (retry: Retry, failure: Failure, attempt: number, at: number, timerId: string): number | null => {
  if (!failure.retryable || attempt > retry.attempts || !retry.kinds.includes(failure.kind)) return null;
  const asked = failure.retryAfterMs ?? 0;
  if (asked > retry.maxRetryAfterMs) return null;
  const delay = Math.min(retry.maxDelayMs, retry.baseDelayMs * 2 ** Math.min(attempt - 2, doublings));
  return at + Math.max(asked, Math.round(delay * (0.5 + fractionOf(timerId) / 2)));
};

/** After so many doublings every delay exceeds the maximum. */
const doublings = 40;

const fractionOf = (text: string): number => (Number.parseInt(digestOf(text).slice(-6), 36) % 1000) / 1000;

/**
 * Returns whether a finish reason means that the reply is incomplete. Servers have many words for it, in upper or lower
 * case, with `-` or `_`, so parts of these words decide. Sources: the API references of OpenAI (`length`,
 * `content_filter`; `max_output_tokens` and `incomplete` of Responses), Anthropic (`max_tokens`, `refusal`,
 * `model_context_window_exceeded`), Mistral (`model_length`, `error`), DeepSeek (`insufficient_system_resource`),
 * Gemini (`MAX_TOKENS`, `SAFETY`, `RECITATION`, `MALFORMED_FUNCTION_CALL`, `TOO_MANY_TOOL_CALLS`, …), Zhipu
 * (`sensitive`, `network_error`), Cohere (`ERROR_TOXIC`, `USER_CANCEL`, `TIMEOUT`), vLLM and SGLang (`abort`).
 */
export const saysCut = (finishReason: string | null): boolean => finishReason !== null && cutWords.test(finishReason);

const cutWords =
  /length|max.*tokens|limit|exceeded|truncat|incomplete|interrupt|insufficient|overload|abort|cancel|error|timeout|malformed|unexpected|too[-_]many|filter|safety|sensitive|guardrail|recitation|language|blocklist|prohibited|spii|toxic|refusal/i;

/** Refuses the calls of an incomplete reply, since the model may not have finished writing them. */
const resultsOfCutCalls = (
  calls: readonly ToolCallDraft[],
  finishReason: string | null,
): readonly SynthesisedResult[] =>
  calls.map((_, position) => ({
    position,
    outcome: "refused",
    content: [
      {
        type: "text",
        text: `Not run: the reply was cut off before the call was complete (${finishReason ?? "no reason"}). Call again, with less text if the reply was too long.`,
      },
    ],
  }));
