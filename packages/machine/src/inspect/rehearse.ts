import * as Either from "fp-ts/lib/Either.js";
import { configurationOf, type Settings } from "../conversation/decide/settings.ts";
import { callSummary, wantedOutput } from "../conversation/update/call.ts";
import type { ConversationData, OpenTurn, QueuedAsk } from "../conversation/protocol/data.ts";
import { decide } from "../conversation/decide/decide.ts";
import { smallerRoom } from "../conversation/decide/outcome.ts";
import {
  decideNow,
  decidePrompt,
  decideSummary,
  decideWithoutSummary,
  measurableSize,
  type PromptDecision,
  situationOf,
} from "../conversation/decide/step.ts";
import type { LlmCompleted } from "../conversation/protocol/event.ts";
import type { Decided } from "../conversation/protocol/entry.ts";
import { noEffects } from "../conversation/update/plan.ts";
import { askSummary, giveUp, receiveSummary } from "../conversation/update/summary.ts";
import { closeTurn } from "../conversation/update/turn-closing.ts";
import { draftsOf, goOnCompacted } from "../conversation/update/turn-opening.ts";
import { update } from "../conversation/update/update.ts";
import type { Cut, TurnRange } from "../prompt/cut.ts";
import { sameCut } from "../prompt/decide-cut.ts";
import type { SummaryWanted } from "../prompt/policy.ts";
import { render } from "../prompt/render.ts";
import { messagesIn } from "../prompt/blocks.ts";
import { digestOfPrompt } from "../thread/make-message.ts";
import type { Message } from "../thread/message.ts";
import type { ImportedCall, RecordedStep, RecordedSteps } from "./recorded-steps.ts";
import { withoutAppended } from "../thread/thread.ts";
import { chunksOf, toArray } from "../thread/chunks.ts";
import { noUsage } from "../thread/usage.ts";

/** The progress of a configuration through a recording: messages as recorded, cuts and summaries its own. */
export interface Rehearsal {
  readonly data: ConversationData;
  /** True if the next call waits for a summary. */
  readonly waits: boolean;
  /** The cut of the newest prompt, if that was of a call made elsewhere. */
  readonly importedCut: Cut | null;
}

/** The result of a configuration at one entry of a journal. */
export interface Rehearsed {
  readonly rehearsal: Rehearsal;
  /** The prompt of the model call that the recording made here; null if it made none. */
  readonly call: RehearsedCall | null;
  /** The summaries that it requests here. */
  readonly summaries: readonly RehearsedSummary[];
  /** The reason why its policy failed; null if it did not. */
  readonly failed: string | null;
}

/** The prompt that the configuration would send. */
export interface RehearsedCall {
  readonly seq: number;
  readonly turn: number;
  readonly step: number;
  readonly attempt: number;
  /** True if the call was made elsewhere and was imported. */
  readonly imported: boolean;
  readonly messages: readonly Message[];
  /** False if the prompt would not be sent and the turn would end. */
  readonly fits: boolean;
  /** By its own counter. */
  readonly tokens: number | null;
  readonly available: number | null;
  readonly policy: string;
  readonly reason: string;
  /** True if the cut changed. */
  readonly cuts: boolean;
}

export interface RehearsedSummary extends SummaryWanted {
  readonly messages: readonly Message[];
  /** True if the recording contains it. A summary that the recording lacks counts as failed. */
  readonly answered: boolean;
}

/** Returns the rehearsal before the second entry. */
export const beginRehearsal = (settings: Settings, { beginning }: RecordedSteps): Rehearsal => ({
  data: { ...beginning, configuration: configurationOf(settings) },
  waits: false,
  importedCut: null,
});

/**
 * Rehearses one recorded event under another configuration. The recorded course is kept (replies, results, limits,
 * retries), and the content of prompts is decided again. So any configuration can rehearse any recording, and every
 * recorded call can be compared.
 */
export const rehearse = (
  settings: Settings,
  { data: before, waits, importedCut }: Rehearsal,
  recorded: RecordedSteps,
  step: RecordedStep,
): Rehearsed => {
  const awaited = step.outcomeOf !== null && before.summarising !== null;
  const ended = awaited ? endSummary(before, step.outcomeOf?.reply ?? null) : before;
  const after = { ...replayed(settings, ended, step), cut: before.cut };
  const { open } = after;
  if (open === null || !isNewCall(before.open, open)) {
    const asked = askAfter(settings, { before, after, recorded, step, awaited });
    return { ...asked, rehearsal: { data: asked.data, waits: waits && open !== null, importedCut }, call: null };
  }
  const inVain = (waits || awaited) && (step.outcomeOf?.reply ?? null) === null;
  const decided = decideCall(settings, after, open, { recorded, seq: step.entry.seq, inVain });
  const { prompt, data, summaries, failed } = decided;
  // The recorded call is not made yet. If this side waits too, it waits for its own summary.
  if (open.stage.type !== "responding")
    return { rehearsal: { data, waits: !prompt.fits, importedCut }, call: null, summaries, failed };
  const { attempt } = open.stage.call;
  const place = { seq: step.entry.seq, turn: open.number, step: open.step, attempt, imported: false };
  return {
    rehearsal: {
      data: afterCall(settings, data, prompt, step, joinedBy(before, open)),
      waits: false,
      importedCut: null,
    },
    call: callOf(place, prompt, before.cut),
    summaries,
    failed,
  };
};

/** Returns the prompt of a call at a place, compared with the last cut. */
const callOf = (
  place: Pick<RehearsedCall, "seq" | "turn" | "step" | "attempt" | "imported">,
  prompt: PromptDecision,
  last: Cut | null,
): RehearsedCall => {
  const { cut, reason, tokens, situation } = prompt;
  const fits = isSent(prompt);
  return {
    ...place,
    messages: render(situation, cut),
    fits,
    tokens,
    available: situation.available,
    policy: cut.policy,
    reason,
    cuts: fits && !sameCut(last ?? { policy: cut.policy, from: null, interrupted: cut.interrupted }, cut),
  };
};

/** A prompt that exceeds only the room learned from a server's refusal is sent: the server decides. */
const isSent = ({ fits, overBudget }: PromptDecision): boolean => fits || overBudget === null;

/**
 * Applies the event as it was recorded. A call that did not fit then is treated as made. A prompt that was too long for
 * the server then is followed by one of half the size of this side's own.
 */
const replayed = (
  settings: Settings,
  data: ConversationData,
  { entry, decided, outcomeOf }: RecordedStep,
): ConversationData => {
  const { seq, event } = entry;
  const { open } = data;
  const room = entry.decided?.room === undefined || open === null ? null : smallerRoom(settings, data, open, event.at);
  const { unfit: _, ...others } = decided;
  const made = room === null ? others : { ...others, room };
  if (outcomeOf !== null) {
    const noted = { ...data, seq, updatedAt: event.at };
    return open?.stage.type === "compacting"
      ? goOnCompacted(noted, open, open.stage.attempt, made, event.at).data
      : noted;
  }
  const updated = update(data, event, made).data;
  // The rehearsal keeps its own configuration, whatever the recording configured.
  return { ...updated, configuration: data.configuration };
};

/** A retried call is new, too: between its attempts the turn is in another stage. */
const isNewCall = (before: OpenTurn | null, { number, step, stage }: OpenTurn): boolean =>
  (stage.type === "responding" || stage.type === "compacting") &&
  (before === null || before.number !== number || before.step !== step || before.stage.type !== stage.type);

interface Place {
  readonly recorded: RecordedSteps;
  readonly seq: number;
  /** True if the wait for a summary failed. */
  readonly inVain: boolean;
}

interface DecidedCall {
  readonly prompt: PromptDecision;
  readonly data: ConversationData;
  readonly summaries: readonly RehearsedSummary[];
  readonly failed: string | null;
}

/** A prompt that does not fit waits for one or more summaries, and then does without. */
const decideCall = (settings: Settings, data: ConversationData, open: OpenTurn, place: Place): DecidedCall => {
  const asked = { open: () => open, saysNothing: open.messages.length === 0 };
  let prompt = place.inVain ? decideWithoutSummary(settings, data, asked) : decidePrompt(settings, data, asked);
  let failed = prompt.failed ?? null;
  if (place.inVain || settings.policy.summariser === undefined) return { prompt, data, summaries: [], failed };
  const summaries: RehearsedSummary[] = [];
  for (let now = data; ;) {
    const wanted = decideSummary(settings, now, prompt.situation, prompt.cut);
    failed ??= wanted.policyFailed ?? null;
    const { summary } = wanted;
    const wantedNow = summary === undefined ? { data: now, summaries: [] } : ask(now, summary, place);
    summaries.push(...wantedNow.summaries);
    if (prompt.fits || open.stage.type === "compacting") return { prompt, data: wantedNow.data, summaries, failed };
    const { summarising } = wantedNow.data;
    const reply = summarising === null ? null : replyTo(summarising, place.recorded);
    const came = wantedNow.summaries.some(({ answered }) => answered) || reply !== null;
    now = summarising === null ? wantedNow.data : endSummary(wantedNow.data, reply);
    prompt = came ? decidePrompt(settings, now, asked) : decideWithoutSummary(settings, now, asked);
    failed ??= prompt.failed ?? null;
    if (!came) return { prompt, data: now, summaries, failed };
  }
};

/** Returns the asks that joined the turn with this call. */
const joinedBy = ({ open: before }: ConversationData, { number }: OpenTurn): readonly QueuedAsk[] =>
  before?.number === number ? before.joining : [];

/** The call is outstanding as recorded, with its own cut; or the turn ends, as the recorded prompt did not fit. */
const afterCall = (
  settings: Settings,
  data: ConversationData,
  prompt: PromptDecision,
  { entry: { event }, decided: { unfit }, sent }: RecordedStep,
  joined: readonly QueuedAsk[],
): ConversationData => {
  const { open } = data;
  const { cut } = prompt;
  const fits = isSent(prompt);
  if (open?.stage.type !== "responding") return data;
  const shown = fits && !sameCut(data.cut, cut) ? cut : data.cut;
  // A prompt that does not fit suggests that the measurement is wrong.
  const measured = fits && unfit === undefined ? data.measured : null;
  const after = { ...data, cut: shown, measured };
  if (unfit !== undefined)
    return closeTurn(after, withoutJoined(open, joined), { status: "failed", unfit }, event.at).data;
  // The reported usage belongs to the recorded prompt, so it measures only an equal one.
  const isAlike = fits && digestOfPrompt(messagesIn(prompt.blocks()), wantedOutput(open)) === sent;
  const call = { ...open.stage.call, cut, counted: isAlike ? measurableSize(settings, prompt) : null };
  return { ...after, open: { ...open, stage: { type: "responding", call } } };
};

/** Returns the turn without the messages of the asks that joined it; they wait to join again. */
const withoutJoined = (open: OpenTurn, joining: readonly QueuedAsk[]): OpenTurn => {
  const said = open.messages.length - joining.flatMap(draftsOf).length;
  return { ...open, messages: chunksOf(toArray(open.messages).slice(0, said)), joining };
};

/** Decides whether to request a summary at an entry without a call: after a turn ended or a summary arrived. */
const askAfter = (
  settings: Settings,
  at: {
    readonly before: ConversationData;
    readonly after: ConversationData;
    readonly recorded: RecordedSteps;
    readonly step: RecordedStep;
    readonly awaited: boolean;
  },
): Omit<DecidedCall, "prompt"> => {
  const { before, after, recorded, step, awaited } = at;
  const { seq, event } = step.entry;
  const nothing = { data: after, summaries: [], failed: null };
  const ends = before.open !== null && after.open === null;
  if (settings.policy.summariser === undefined || after.summarising !== null) return nothing;
  if (awaited ? step.outcomeOf?.reply === null : !ends) return nothing;
  const decided = awaited
    ? decideSummary(settings, after, situationOf(settings, after, { open: () => after.open }))
    : Either.getOrElse((): Decided => ({}))(decide(settings, before, event));
  const { summary, policyFailed = null } = decided;
  return summary === undefined
    ? { ...nothing, failed: policyFailed }
    : { ...ask(after, summary, { recorded, seq }), failed: policyFailed };
};

/**
 * Requests a summary. If the recording requested it at the same entry, it arrives at the recorded time. If the
 * recording has a summary of the same turns elsewhere, it arrives at once. Otherwise it fails.
 */
const ask = (
  data: ConversationData,
  wanted: SummaryWanted,
  { recorded, seq }: Omit<Place, "inVain">,
): Omit<DecidedCall, "prompt" | "failed"> => {
  const asked = askSummary({ data, arrow: "stays", effects: noEffects }, wanted).data;
  const { summarising } = asked;
  if (summarising === null) return { data, summaries: [] };
  const { messages } = callSummary(asked, summarising);
  const same = recorded.summaries.find((summary) => summary.askedAt === seq && coversSame(summary, wanted));
  const reply = same === undefined ? replyTo(wanted, recorded) : same.reply;
  const summaries = [{ ...wanted, messages, answered: reply !== null }];
  return { data: same === undefined ? endSummary(asked, reply) : asked, summaries };
};

const replyTo = (wanted: SummaryWanted, { summaries }: RecordedSteps): LlmCompleted | null =>
  summaries.find((summary) => summary.reply !== null && coversSame(summary, wanted))?.reply ?? null;

const endSummary = (data: ConversationData, reply: LlmCompleted | null): ConversationData => {
  const { summarising } = data;
  if (summarising === null) return data;
  return reply === null ? giveUp(data, summarising) : receiveSummary(data, summarising, reply, {}).data;
};

const coversSame = (left: SummaryWanted, right: SummaryWanted): boolean =>
  isSameRange(left.covers, right.covers) && isSameRange(left.earlier, right.earlier);

const isSameRange = (left: TurnRange | null, right: TurnRange | null): boolean =>
  left?.from === right?.from && left?.to === right?.to;

/**
 * Decides which prompt a configuration would have shown for a call that was made elsewhere. It leaves no mark on the
 * thread: later calls made here are decided as if nothing had been cut for it. A needed summary counts as one that the
 * recording lacks.
 */
export const rehearseImported = (settings: Settings, rehearsal: Rehearsal, imported: ImportedCall): Rehearsed => {
  const data = threadBefore(rehearsal, imported);
  const open = openTurnOf(data, imported);
  const prompt = decideNow(settings, data, { open: () => open, saysNothing: imported.messages.length === 0 });
  const { seq } = imported.entry;
  const place = { seq, turn: imported.turn, step: imported.step, attempt: 1, imported: true };
  return {
    rehearsal: { ...rehearsal, importedCut: isSent(prompt) ? prompt.cut : rehearsal.importedCut },
    call: callOf(place, prompt, data.cut),
    summaries: [],
    failed: prompt.failed ?? null,
  };
};

const threadBefore = ({ data, importedCut }: Rehearsal, { seedLength }: ImportedCall): ConversationData => {
  const { conversation } = data;
  const seed = seedLength === null ? conversation.seed : conversation.seed.slice(0, seedLength);
  return { ...data, cut: importedCut ?? data.cut, conversation: { ...withoutAppended(conversation), seed } };
};

const openTurnOf = (
  { conversation, model, updatedAt }: ConversationData,
  { messages, step }: ImportedCall,
): OpenTurn => ({
  number: conversation.turns.length + 1,
  parent: conversation.head,
  asks: [],
  startedAt: updatedAt,
  messages: chunksOf(messages),
  waiting: [],
  joining: [],
  made: messages.length,
  step,
  toolCalls: 0,
  answer: null,
  metadata: null,
  usage: noUsage,
  model,
  limits: {},
  deadlineAt: null,
  stage: { type: "running", calls: [] },
});
