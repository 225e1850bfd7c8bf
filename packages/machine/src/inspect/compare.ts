import * as Either from "fp-ts/lib/Either.js";
import type { Entry } from "../conversation/protocol/entry.ts";
import { conversationMachine, type ConversationMachine, internals } from "../conversation/machine.ts";
import type { MachineOptions } from "../conversation/decide/options.ts";
import type { Settings } from "../conversation/decide/settings.ts";
import type { Counts } from "../prompt/counts.ts";
import { tokensOfPrompt } from "../prompt/explain-units.ts";
import type { Message } from "../thread/message.ts";
import type {
  BrokenLaw,
  JournalComparison,
  PromptComparison,
  PromptDifference,
  PromptFigures,
  PromptSketch,
} from "./comparison.ts";
import { recordedSteps, type RecordedSteps } from "./recorded-steps.ts";
import {
  beginRehearsal,
  type Rehearsal,
  rehearse,
  type Rehearsed,
  type RehearsedCall,
  rehearseImported,
} from "./rehearse.ts";
import { checkPrompt } from "../prompt/well-formed.ts";

/** A journal with a display name. */
export interface NamedJournal {
  readonly name: string;
  readonly entries: readonly Entry[];
}

/**
 * Compares the prompts that two configurations would send in the same recorded conversations. It reports the first
 * difference, the tokens saved or added, and the effect on a provider's prompt cache. Pure, and calls no model.
 *
 * Both sides keep the recorded course: replies, tool results, limits, retries. Each side decides every prompt again,
 * with its own cuts, calibration and summaries. So a configuration needs only the options that affect prompts (policy,
 * budget, counter, `interrupted`). Every recorded call is compared, even if one side would not have made it. A summary
 * that the recordings lack counts as failed.
 *
 * Turns that were added whole, appended rounds and a seed hold calls made elsewhere. Each assistant message that
 * answers another message is one, and so is the message of each appended round. Its prompt is the one that would have
 * been shown there.
 *
 * @throws ConfigurationError for invalid options.
 */
export const comparePrompts = (
  journals: readonly NamedJournal[],
  before: MachineOptions | ConversationMachine,
  after: MachineOptions | ConversationMachine,
): PromptComparison => {
  const sides: Sides = { before: settingsFrom(before), after: settingsFrom(after) };
  const { counts } = sides.after;
  const tallies = { before: tallyOf(sides.before, counts), after: tallyOf(sides.after, counts) };
  const compared = journals.map((journal) => compareJournal(journal, sides, tallies));
  return {
    journals: compared,
    before: tallies.before.figures(),
    after: tallies.after.figures(),
  };
};

interface Sides {
  readonly before: Settings;
  readonly after: Settings;
}

interface Tallies {
  readonly before: Tally;
  readonly after: Tally;
}

const settingsFrom = (given: MachineOptions | ConversationMachine): Settings =>
  (internals in given ? given : conversationMachine(given))[internals].settings;

const compareJournal = ({ name, entries }: NamedJournal, sides: Sides, tallies: Tallies): JournalComparison => {
  const read = recordedSteps(entries);
  if (Either.isLeft(read)) return unreadable(name, `entry ${read.left.seq}: ${read.left.reason}`);
  return compareSteps(name, read.right, sides, tallies);
};

const compareSteps = (name: string, recorded: RecordedSteps, sides: Sides, tallies: Tallies): JournalComparison => {
  let before = beginRehearsal(sides.before, recorded);
  let after = beginRehearsal(sides.after, recorded);
  tallies.before.beginJournal(name);
  tallies.after.beginJournal(name);
  let calls = 0;
  let imported = 0;
  let differing = 0;
  let first: PromptDifference | null = null;
  for (const step of recorded.steps) {
    const was = rehearseStep(sides.before, before, recorded, step);
    const is = rehearseStep(sides.after, after, recorded, step);
    tallies.before.add(was, step.entry.seq);
    tallies.after.add(is, step.entry.seq);
    before = was.rehearsal;
    after = is.rehearsal;
    if (was.call === null || is.call === null) continue;
    calls++;
    if (is.call.imported) imported++;
    if (isSame(was.call, is.call)) continue;
    differing++;
    first ??= differenceOf(was.call, is.call, sides.after.counts);
  }
  return { name, unreadable: null, calls, imported, differing, first };
};

const rehearseStep = (
  settings: Settings,
  rehearsal: Rehearsal,
  recorded: RecordedSteps,
  step: RecordedSteps["steps"][number],
): Rehearsed =>
  step.type === "imported"
    ? rehearseImported(settings, rehearsal, step)
    : rehearse(settings, rehearsal, recorded, step);

const unreadable = (name: string, reason: string): JournalComparison => ({
  name,
  unreadable: reason,
  calls: 0,
  imported: 0,
  differing: 0,
  first: null,
});

const isSame = (left: RehearsedCall, right: RehearsedCall): boolean =>
  left.fits === right.fits &&
  left.messages.length === right.messages.length &&
  sharedLength(left.messages, right.messages) === left.messages.length;

const differenceOf = (before: RehearsedCall, after: RehearsedCall, counts: Counts): PromptDifference => {
  const { seq, turn, step, attempt } = after;
  const shared = sharedLength(before.messages, after.messages);
  const isEqual = shared === before.messages.length && shared === after.messages.length;
  return {
    seq,
    turn,
    step,
    attempt,
    index: isEqual ? null : shared,
    before: sketchOf(before, before.messages[shared], counts),
    after: sketchOf(after, after.messages[shared], counts),
  };
};

const sketchOf = (
  { messages, fits, policy, reason }: RehearsedCall,
  message: Message | undefined,
  counts: Counts,
): PromptSketch => ({
  messages: messages.length,
  tokens: tokensOfPrompt(counts, messages),
  message: message ?? null,
  fits,
  policy,
  reason,
});

export interface Tally {
  /** Starts another thread, for which a cache holds nothing. */
  readonly beginJournal: (name: string) => void;
  readonly add: (rehearsed: Rehearsed, seq: number) => void;
  readonly figures: () => PromptFigures;
}

/** Creates a tally. @param counts the counter for tokens, which may differ from the configuration's own. */
const tallyOf = ({ policy }: Settings, counts: Counts): Tally => {
  let journal = "";
  let last: { readonly messages: readonly Message[]; readonly tokens: number } | null = null;
  let figures: PromptFigures = { ...nothing, policy: `${policy.name}@${policy.version}` };
  const broken: BrokenLaw[] = [];

  const addCall = (call: RehearsedCall): void => {
    const { messages } = call;
    if (call.cuts) figures = { ...figures, cuts: figures.cuts + 1 };
    const problem = checkPrompt(messages);
    if (problem !== null)
      broken.push({
        ...placeOf(journal, call),
        law: "well-formed",
        reason: `message ${problem.index}: ${problem.reason}`,
      });
    if (!call.fits) {
      const { tokens, available } = call;
      broken.push({
        ...placeOf(journal, call),
        law: "fits",
        reason: `${tokens} tokens, and there is room for ${available}`,
      });
      return;
    }
    figures = { ...figures, sent: figures.sent + 1 };
    const tokens = tokensOfPrompt(counts, messages);
    if (tokens === null) {
      figures = { ...figures, uncounted: figures.uncounted + 1 };
      return;
    }
    const kept = last === null ? 0 : keptOf(counts, last.messages, messages);
    figures = {
      ...figures,
      tokens: figures.tokens + tokens,
      keptTokens: figures.keptTokens + kept,
      lostTokens: figures.lostTokens + (last === null ? 0 : last.tokens - kept),
    };
    last = { messages, tokens };
  };

  return {
    beginJournal: (name) => {
      journal = name;
      last = null;
    },
    add: ({ call, summaries, failed, rehearsal }, seq) => {
      const { open } = rehearsal.data;
      const place = call ?? { seq, turn: open?.number ?? 0, step: open?.step ?? 0 };
      if (failed !== null) broken.push({ ...placeOf(journal, place), law: "policy", reason: failed });
      for (const { messages, answered } of summaries) {
        const { asked, answered: had, tokens } = figures.summaries;
        const more = tokensOfPrompt(counts, messages) ?? 0;
        figures = {
          ...figures,
          summaries: { asked: asked + 1, answered: had + (answered ? 1 : 0), tokens: tokens + more },
        };
      }
      if (call !== null) addCall(call);
    },
    figures: () => ({ ...figures, broken: [...broken] }),
  };
};

/** Returns the number of messages in the common beginning of two prompts, as a model sees them. */
const sharedLength = (left: readonly Message[], right: readonly Message[]): number => {
  const differs = left.findIndex(({ digest }, index) => digest !== right[index]?.digest);
  return differs < 0 ? left.length : differs;
};

const keptOf = (counts: Counts, before: readonly Message[], messages: readonly Message[]): number => {
  const shared = sharedLength(before, messages);
  return shared === 0 ? 0 : (tokensOfPrompt(counts, messages.slice(0, shared)) ?? 0);
};

const placeOf = (journal: string, { seq, turn, step }: Pick<BrokenLaw, "seq" | "turn" | "step">) => ({
  journal,
  seq,
  turn,
  step,
});

const nothing: Omit<PromptFigures, "policy"> = {
  sent: 0,
  tokens: 0,
  keptTokens: 0,
  lostTokens: 0,
  uncounted: 0,
  cuts: 0,
  summaries: { asked: 0, answered: 0, tokens: 0 },
  broken: [],
};
