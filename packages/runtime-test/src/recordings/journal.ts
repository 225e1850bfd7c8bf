import { isDeepStrictEqual } from "node:util";
import { ConfigurationError, type ConversationMachine, type Entry, type State } from "@colloquy/machine";
import { isConversationMachine } from "@colloquy/machine/hosting";
import { decodeJournal, describeDecodeError, fold } from "@colloquy/machine/journal";
import { describeDifference, type Difference, replay, type ReplayOptions } from "@colloquy/machine/inspect";
import * as Either from "fp-ts/lib/Either.js";

/** The result of a journal's replay. */
export type JournalReplay =
  | { readonly outcome: "passed"; readonly state: State }
  | {
      readonly outcome: "failed";
      /** The first difference: the entry, the expected value, and the actual one. */
      readonly words: string;
      /** The same as data; null if the journal is unreadable. */
      readonly difference: Difference | null;
    };

/**
 * Parses a journal in JSON lines, without decoding the entries. Ignores empty lines. Throws a SyntaxError on a line
 * that is not JSON.
 */
export const journalLines = (text: string): readonly unknown[] =>
  text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line): unknown => JSON.parse(line));

/**
 * Replays a journal: decodes its entries, and lets a machine decide them again. Fails at the first place where the
 * machine decides differently, or would have sent another prompt, or offered other tools.
 *
 * @throws ConfigurationError for entries that are not a list, and for a machine that `conversationMachine` did not make
 */
export const replayJournal = (
  machine: ConversationMachine,
  entries: readonly unknown[],
  options?: ReplayOptions,
): JournalReplay => replayedBy("replayJournal", machine, entries, options);

/** Replays a journal as `replayJournal` does; errors name the function that the caller called. */
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

/** Describes the first problem of a journal in decoding, folding or deciding again; null if there is none. */
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

/**
 * Returns the entries that a caller in JavaScript passed.
 *
 * @param of the function, as its caller knows it: `toReplay`.
 * @throws ConfigurationError for a value that is not a list
 */
const checkedEntries = (of: string, value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value;
  throw new ConfigurationError(`${of} takes the entries of a journal; this is ${described(value)}`);
};

export const checkedMachine = (of: string, value: unknown): ConversationMachine => {
  if (isConversationMachine(value)) return value;
  throw new ConfigurationError(`${of} takes what conversationMachine({ … }) made; this is ${kindOf(value)}`);
};

export const checkedCase = <Case extends object>(of: string, value: Case): Case => {
  if ("steps" in Object(value) && "expect" in Object(value)) return value;
  throw new ConfigurationError(`${of} takes a recorded case, as readRecordings gives it; this is ${described(value)}`);
};

const described = (value: unknown): string => {
  const tag: unknown = Reflect.get(Object(value), "_tag");
  if (tag === "Right") return "an Either: give its .right";
  if (tag === "Left") return "an Either without a value: its .left says why";
  if (typeof value === "string") return "a text: give journalLines(text)";
  return kindOf(value);
};

const kindOf = (value: unknown): string =>
  Array.isArray(value)
    ? "a list"
    : typeof value === "object" && value !== null
      ? "an object"
      : value === undefined || value === null
        ? String(value)
        : `a ${typeof value}`;
