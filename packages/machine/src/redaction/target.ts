import * as Either from "fp-ts/lib/Either.js";
import { type Entry, isLater } from "../conversation/protocol/entry.ts";
import type { State } from "../conversation/protocol/data.ts";
import { isCoveredBySummary } from "../prompt/summary-request.ts";
import { type Thread, turnOf } from "../thread/thread.ts";
import { canonicalText } from "../thread/make-message.ts";
import { type Attribution, attributionsOf } from "./attribution.ts";
import { firstEntry, laterEntry } from "../conversation/protocol/entry-forms.ts";

/**
 * The content to redact: that of a turn (0 for the thread's beginning), of a message by its id, or of entries by their
 * seqs.
 */
export type RedactionTarget =
  | { readonly turn: number }
  | { readonly message: string }
  | { readonly seqs: readonly number[] };

/**
 * Returns the entries that hold or held the content of a target, in order of `seq`, including those of summaries made from it.
 * Returns an error text if the target does not exist. An entry is redacted as a whole, even if it holds more: an ask
 * of several messages, or one that interrupted the turn. An ask that no turn answers, and the reason of its
 * withdrawal, belong to the turn during which it arrived. Entries that never had content are left out unless they are
 * named. Those that were redacted before are included: a copy may still have their content.
 */
export const entriesToRedact = (
  entries: readonly Entry[],
  target: RedactionTarget,
): Either.Either<string, readonly number[]> => {
  if (!isRedactionTarget(target))
    return Either.left(
      `${JSON.stringify(target) ?? "nothing"} names nothing to redact: give { turn } (a number), { message } (an id) or { seqs } (numbers)`,
    );
  const read = attributionsOf(entries);
  if (Either.isLeft(read)) return Either.left(`entry ${read.left.seq}: ${read.left.reason}`);
  const { attributions, state } = read.right;
  const thread = state.context.conversation;
  const problem = problemOf(target, attributions, state);
  if (problem !== null) return Either.left(problem);
  const named = new Set("seqs" in target ? target.seqs : []);
  const meant = attributions.filter((each) => isMeant(each, target));
  const turns = new Set("turn" in target ? [target.turn] : meant.flatMap((each) => [...each.turns]));
  const summaries = summariesOf(attributions, turns, thread);
  const seqs = new Set([...meant, ...summaries].map(({ seq }) => seq));
  const holdsContent = (entry: Entry): boolean => entry.redacted === true || hasWords(entry);
  const redacted = entries.filter((entry) => seqs.has(entry.seq) && (named.has(entry.seq) || holdsContent(entry)));
  return Either.right(redacted.map(({ seq }) => seq));
};

/**
 * Returns whether a value is a target. A caller without types may pass anything, and a target without meaning would
 * leave the content in place.
 */
export const isRedactionTarget = (given: unknown): given is RedactionTarget => {
  if (typeof given !== "object" || given === null) return false;
  if ("turn" in given) return Number.isSafeInteger(given.turn);
  if ("message" in given) return typeof given.message === "string";
  return "seqs" in given && Array.isArray(given.seqs) && given.seqs.every(Number.isSafeInteger);
};

const isMeant = ({ seq, turns, messages }: Attribution, target: RedactionTarget): boolean => {
  if ("turn" in target) return turns.has(target.turn);
  return "message" in target ? messages.has(target.message) : target.seqs.includes(seq);
};

/** Returns the summaries of some turns, and those that were made from one of these. */
const summariesOf = (
  attributions: readonly Attribution[],
  turns: ReadonlySet<number>,
  thread: Thread,
): ReadonlySet<Attribution> => {
  const found = new Set<Attribution>();
  const endings = new Set<number>();
  for (const each of attributions) {
    const { summary } = each;
    if (summary === null) continue;
    const { covers, earlier } = summary;
    const isToldAgain = [...endings].some((turn) => earlier !== null && turn >= earlier.from && turn <= earlier.to);
    if (!isToldAgain && ![...turns].some((turn) => isCoveredBySummary(thread, turn, summary))) continue;
    found.add(each);
    endings.add(covers.to);
  }
  return found;
};

const hasWords = (entry: Entry): boolean => {
  const { redacted: _, ...without } = redactEntry(entry);
  const { redacted: __, ...as } = entry;
  return canonicalText(without) !== canonicalText(as);
};

const problemOf = (
  target: RedactionTarget,
  attributions: readonly Attribution[],
  { context: { conversation, open } }: State,
): string | null => {
  if ("turn" in target) {
    const { turn } = target;
    if (turn === 0 || turn === open?.number || turnOf(conversation, turn) !== undefined) return null;
    const last = open?.number ?? conversation.turns.length;
    return `there is no turn ${turn}; there are ${last === 0 ? "none" : `1 to ${last}`}, and 0 for what it began with`;
  }
  if ("message" in target) {
    return attributions.some(({ messages }) => messages.has(target.message))
      ? null
      : `there is no message "${target.message}" in the journal`;
  }
  if (target.seqs.length === 0) return "no entry is named";
  const missing = target.seqs.find((seq) => attributions[seq] === undefined);
  return missing === undefined ? null : `there is no entry ${missing}; there are 0 to ${attributions.length - 1}`;
};

/**
 * Removes the content of an entry, and keeps its place, type and structure. "[redacted]" replaces texts, and `{}`
 * replaces arguments. Metadata, names of people (also of those who approved), provider fields and anything else that
 * could reveal the content are removed, also members that this version does not know. Identifiers stay, so that later
 * entries fold as before: ids, roles, tools and their versions, fields, annotations, checkpoints, models. So do
 * single-word finish reasons and failure codes, times and usage. Put nothing private into identifiers. Redacting an
 * entry twice has no further effect.
 */
export const redactEntry = (entry: Entry): Entry => ({
  ...(isLater(entry) ? laterEntry.redact(entry) : firstEntry.redact(entry)),
  redacted: true,
});
