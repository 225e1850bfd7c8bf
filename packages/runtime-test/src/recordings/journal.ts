import { isDeepStrictEqual } from "node:util";
import type { ConversationMachine, Entry, State } from "@colloquy/machine";
import { decodeJournal, describeDecodeError, fold } from "@colloquy/machine/journal";
import { describeDifference, type Difference, replay, type ReplayOptions } from "@colloquy/machine/inspect";
import * as Either from "fp-ts/lib/Either.js";
import { checkedEntries, checkedMachine } from "./argument-checks.ts";

/** How the replay of a journal ended. */
export type JournalReplay =
  | { readonly outcome: "passed"; readonly state: State }
  | {
      readonly outcome: "failed";
      /** The first difference: which entry, what was expected, what came. */
      readonly words: string;
      /** The same as data; null when the journal can't be read at all. */
      readonly difference: Difference | null;
    };

/** The values of a journal in JSON lines, not yet decoded. Empty lines do not count. Throws a SyntaxError on a line that is not JSON. */
export const journalLines = (text: string): readonly unknown[] =>
  text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line): unknown => JSON.parse(line));

/**
 * Replays a journal: decodes its entries, and lets a machine decide them again. Fails with the first place where
 * the machine decides otherwise, or would have sent another prompt, or offered other tools, than was done.
 *
 * @throws ConfigurationError for entries that are not a list, and for a machine that `conversationMachine` did not make
 */
export const replayJournal = (
  machine: ConversationMachine,
  entries: readonly unknown[],
  options?: ReplayOptions,
): JournalReplay => replayedBy("replayJournal", machine, entries, options);

/** The same, under the name by which a caller knows it. */
export const replayedBy = (
  of: string,
  machine: ConversationMachine,
  entries: readonly unknown[],
  options?: ReplayOptions,
): JournalReplay => {
  const decoded = decodeJournal(checkedEntries(of, entries));
  if (Either.isLeft(decoded)) return { outcome: "failed", words: describeDecodeError(decoded.left), difference: null };
  const replayed = replay(checkedMachine(of, machine), decoded.right, options);
  return Either.isLeft(replayed)
    ? { outcome: "failed", words: describeDifference(replayed.left), difference: replayed.left }
    : { outcome: "passed", state: replayed.right };
};

/** What is wrong with a journal whose end is known, once it was written and read: how it is decoded, folded and decided again. */
export const journalDifference = (
  machine: ConversationMachine,
  entries: readonly Entry[],
  state: State,
): string | null => {
  const decoded = decodeJournal(journalLines(entries.map((entry) => JSON.stringify(entry)).join("\n")));
  if (Either.isLeft(decoded)) return describeDecodeError(decoded.left);
  const folded = fold(decoded.right);
  if (Either.isLeft(folded)) return `entry ${folded.left.seq}: ${folded.left.reason}`;
  if (!isDeepStrictEqual(folded.right, state)) return "it folds to another state than the transitions gave";
  const replayed = replayJournal(machine, decoded.right);
  return replayed.outcome === "failed" ? replayed.words : null;
};
