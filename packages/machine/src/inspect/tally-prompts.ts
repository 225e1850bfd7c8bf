import type { Settings } from "../conversation/decide/settings.ts";
import type { Counts } from "../prompt/counts.ts";
import { tokensOfPrompt } from "../prompt/explain-units.ts";
import { checkPrompt } from "../prompt/well-formed.ts";
import type { Message } from "../thread/message.ts";
import type { BrokenLaw, PromptFigures } from "./comparison.ts";
import type { Rehearsed, RehearsedCall } from "./rehearse.ts";

/** A tally of what one configuration sends, call after call. */
export interface Tally {
  /** Starts another thread, for which a cache holds nothing. */
  readonly beginJournal: (name: string) => void;
  readonly add: (rehearsed: Rehearsed, seq: number) => void;
  readonly figures: () => PromptFigures;
}

/** Creates a tally. @param counts the counter for tokens, which may differ from the configuration's own. */
export const tallyOf = ({ policy }: Settings, counts: Counts): Tally => {
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
export const sharedLength = (left: readonly Message[], right: readonly Message[]): number => {
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
