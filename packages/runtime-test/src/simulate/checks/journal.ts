import {
  canonicalText,
  type ConversationMachine,
  type Entry,
  type Json,
  type State,
  turnNumbered,
  type Usage,
  usageMonoid,
} from "@colloquy/machine";
import { decodeJournal, describeDecodeError, fold } from "@colloquy/machine/journal";
import { describeDifference, replay } from "@colloquy/machine/inspect";
import { lostEventIn } from "@colloquy/machine/hosting";
import * as Either from "fp-ts/lib/Either.js";
import type { WatchedJournal } from "./watched-journal.ts";
import type { World } from "../world/world.ts";

/**
 * Checks the stored journal: no entry is lost, it folds to the observed state, and a machine decides the same again.
 */
export const checkJournal = (
  world: World,
  journal: WatchedJournal,
  machine: ConversationMachine,
  stored: readonly unknown[],
): readonly Entry[] => {
  const decoded = decodeJournal(stored);
  if (Either.isLeft(decoded)) {
    world.breaks("M3", `the journal can't be read: ${describeDecodeError(decoded.left)}`);
    return [];
  }
  const entries = decoded.right;
  if (!isSame(stored, journal.entries)) world.breaks("R3", differenceOf(journal.entries, stored));
  const folded = fold(entries);
  if (Either.isLeft(folded)) world.breaks("M5", `entry ${folded.left.seq}: ${folded.left.reason}`);
  else if (!isSame(folded.right, journal.state))
    world.breaks("M5", "the stored journal folds to another state than the entries did as they came");
  const lost = lostEventIn(entries);
  if (lost !== null) world.breaks("M5", `the journal could not be imported: entry ${lost.seq}: ${lost.reason}`);
  checkRedacted(world, journal, stored);
  // Redacted entries cannot be decided again: their words are gone.
  if (entries.some(({ redacted }) => redacted === true)) return entries;
  const replayed = replay(machine, entries);
  if (Either.isLeft(replayed)) world.breaks("R5", describeDifference(replayed.left));
  return entries;
};

/** Checks that redacted words are nowhere any more. */
const checkRedacted = (world: World, { redacted }: WatchedJournal, stored: readonly unknown[]): void => {
  const text = JSON.stringify(stored);
  for (const words of redacted) {
    if (text.includes(JSON.stringify(words))) world.breaks("R3", `${JSON.stringify(words)} was redacted, and is there`);
  }
};

/** Checks M5: the live state is the fold of the journal. */
export const checkLiveState = (world: World, folded: State | null, live: State | null): void => {
  if (isSame(live, folded)) return;
  world.breaks(
    "M5",
    `the live state is not the fold of the journal:\n${JSON.stringify(live)}\n${JSON.stringify(folded)}`,
  );
};

/**
 * Checks M8: the thread's usage is that of its turns and of the calls between them, and that of all calls in the
 * journal.
 */
export const checkUsage = (world: World, { usage, state }: Pick<WatchedJournal, "usage" | "state">): void => {
  if (state === null) return;
  const { total, betweenTurns } = state.context.usage;
  if (!isSameUsage(total, usage)) {
    world.breaks(
      "M8",
      `the thread's usage is ${JSON.stringify(total)}, and its calls add up to ${JSON.stringify(usage)}`,
    );
  }
  let turns = betweenTurns;
  for (let number = 1; number <= state.context.conversation.turns.length; number++) {
    turns = usageMonoid.concat(turns, turnNumbered(state, number)?.usage ?? usageMonoid.empty);
  }
  if (!isSameUsage(total, turns)) {
    world.breaks(
      "M8",
      `the thread's usage is ${JSON.stringify(total)}, and its turns add up to ${JSON.stringify(turns)}`,
    );
  }
};

const differenceOf = (written: readonly Entry[], stored: readonly unknown[]): string => {
  if (written.length !== stored.length) return `${written.length} entries were written, and ${stored.length} are there`;
  const index = written.findIndex((entry, at) => !isSame(entry, stored[at]));
  return `entry ${index} was written as ${JSON.stringify(written[index])}, and is ${JSON.stringify(stored[index])}`;
};

/**
 * Returns whether two values are equal. Members from a store are sometimes in another order; the text is nearly always
 * the same.
 */
const isSame = (left: unknown, right: unknown): boolean =>
  JSON.stringify(left) === JSON.stringify(right) || canonicalText(plain(left)) === canonicalText(plain(right));

const plain = (value: unknown): Json =>
  // JSON.parse returns JSON.
  JSON.parse(JSON.stringify(value)) as Json;

const isSameUsage = (left: Usage, right: Usage): boolean => JSON.stringify(left) === JSON.stringify(right);
