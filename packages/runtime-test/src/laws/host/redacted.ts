import { type ConversationMachine, type Entry, messagesOf, promptOf, type State, turnsOf } from "@colloquy/machine";
import { describeDifference, explain, replay } from "@colloquy/machine/inspect";
import { redactEntry } from "@colloquy/machine/storage";
import * as Either from "fp-ts/lib/Either.js";
import { plain } from "../evidence/difference.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { foldedUnder } from "./folded.ts";

/** A thread before and after words were redacted in it. */
export interface RedactionRun {
  readonly machine: ConversationMachine;
  /** The words that must be gone, each as it was written. */
  readonly words: readonly string[];
  readonly before: readonly Entry[];
  /** The journal afterwards, including later entries. */
  readonly after: readonly Entry[];
  /** The entries that had to lose their words. */
  readonly seqs: readonly number[];
  /**
   * Everything else that is kept or shown afterwards, by its name: a snapshot, hits of a search, an export, prompts
   * that were sent. Default: nothing.
   */
  readonly elsewhere?: Readonly<Record<string, unknown>>;
}

/**
 * Redaction. Afterwards the words are nowhere: in the journal, the state, the next prompt and its explanation, and
 * everything else given. All the rest is unchanged, entry by entry, turn by turn, message by message. A replay of the
 * journal finds no difference.
 */
export const lawRedacted = ({ machine, words, before, after, seqs, elsewhere = {} }: RedactionRun): void => {
  const [was, is] = [foldedUnder(law, before), foldedUnder(law, after)];
  const places = {
    "the journal": after,
    "the state": is,
    "the next prompt": promptOf(machine, is),
    "its explanation": explain(machine, is),
    ...elsewhere,
  };
  for (const each of words) {
    if (!isIn(before, each)) throw broken(`${JSON.stringify(each)} was never there: nothing is shown by its absence`);
    for (const [place, value] of Object.entries(places))
      if (isIn(value, each)) throw broken(`${JSON.stringify(each)} was redacted, and is in ${place}`);
  }
  for (const [index, entry] of before.entries()) {
    const expected = seqs.includes(entry.seq) && entry.redacted !== true ? redactEntry(entry) : entry;
    requireSame(law, `entry ${entry.seq}`, plain(expected), plain(after[index]));
  }
  const then = foldedUnder(law, after.slice(0, before.length));
  requireSame(law, "the shape of the thread", shapeOf(was), shapeOf(then));
  const replayed = replay(machine, after);
  if (Either.isLeft(replayed)) throw broken(`a replay differs: ${describeDifference(replayed.left)}`);
};

const law = "redaction";

const broken = (words: string): LawBroken => new LawBroken(law, words);

/** Returns whether a value has the words, as JSON writes them, anywhere in its text. */
const isIn = (value: unknown, words: string): boolean =>
  (JSON.stringify(value) ?? "").includes(JSON.stringify(words).slice(1, -1));

/** Returns the facts that a redaction does not change. */
const shapeOf = (state: State): unknown => ({
  messages: messagesOf(state).map(({ id, role, parts }) => ({ id, role, parts: parts.map(({ type }) => type) })),
  turns: turnsOf(state).map(({ number, asks, outcome }) => ({
    number,
    asks: asks.map(({ askId }) => askId),
    status: outcome.status,
  })),
  usage: state.context.usage,
});
