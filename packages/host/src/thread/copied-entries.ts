import { placeIn } from "@colloquy/machine/hosting";
import { canonicalText, type Entry, turnNumbered } from "@colloquy/machine";
import { fold } from "@colloquy/machine/journal";
import { entriesToRedact, redactEntry, type RedactionTarget } from "@colloquy/machine/storage";
import * as Either from "fp-ts/lib/Either.js";

/**
 * Returns the entries of a fork whose words were copied from a thread, or that are about those words. Entries of the
 * fork's own later turns are not included; these have turn numbers of their own.
 *
 * @param meant the entries of the thread that have or had the words of the target.
 */
export const copiedEntries = (
  original: readonly Entry[],
  meant: readonly number[],
  target: RedactionTarget,
  fork: readonly Entry[],
): Either.Either<string, readonly number[]> => {
  const shared = sharedLength(original, fork);
  const seqs = new Set([...meant.filter((seq) => seq < shared), ...repeatedIn(original, meant, fork, shared)]);
  const turn = turnOf(target);
  if (turn !== null && isClosedIn(fork.slice(0, shared), turn)) {
    // The turn is the same one, so later entries about it are included.
    const later = entriesToRedact(fork, target);
    if (Either.isLeft(later)) return later;
    for (const seq of later.right) seqs.add(seq);
  }
  return seqs.size === 0 ? Either.right([]) : entriesToRedact(fork, { seqs: [...seqs] });
};

/**
 * Returns entries of the fork that repeat events of the thread after the copied turns, at other seqs. An event without
 * its words also stands for one of the same time and form that has others: too much is removed rather than too little.
 */
const repeatedIn = (
  original: readonly Entry[],
  meant: readonly number[],
  fork: readonly Entry[],
  shared: number,
): readonly number[] => {
  const later = meant.flatMap((seq) => (seq < shared ? [] : (original[seq] ?? [])));
  const whole = new Set(later.map((entry) => textOf(entry.event)));
  // If the words are already redacted, compare what is left.
  const bare = new Set(
    later.filter(({ redacted }) => redacted === true).map((entry) => textOf(redactEntry(entry).event)),
  );
  return fork
    .slice(shared)
    .filter((entry) => whole.has(textOf(entry.event)) || bare.has(textOf(redactEntry(entry).event)))
    .map(({ seq }) => seq);
};

const textOf = (event: Entry["event"]): string => canonicalText(ofNoThread(event));

/** Returns how many entries at the beginning are the same, apart from redacted words and the id of the thread. */
const sharedLength = (original: readonly Entry[], fork: readonly Entry[]): number => {
  const index = fork.findIndex((entry, seq) => {
    const other = original[seq];
    return other === undefined || bareText(entry) !== bareText(other);
  });
  return index < 0 ? fork.length : index;
};

const bareText = (entry: Entry): string => {
  const { event, ...others } = redactEntry(entry);
  return canonicalText({ ...others, event: ofNoThread(event) });
};

const ofNoThread = (event: Entry["event"]): object => {
  if (event.type === "thread.started") return { ...event, threadId: "" };
  return "effectId" in event ? { ...event, effectId: placeIn(event.effectId) } : event;
};

const turnOf = (target: RedactionTarget): number | null => {
  if ("turn" in target) return target.turn;
  const turn = "message" in target ? Number.parseInt(target.message, 10) : Number.NaN;
  return Number.isNaN(turn) ? null : turn;
};

const isClosedIn = (entries: readonly Entry[], turn: number): boolean => {
  const state = fold(entries);
  return Either.isRight(state) && (turn === 0 || turnNumbered(state.right, turn) !== undefined);
};
