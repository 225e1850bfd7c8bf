import * as Either from "fp-ts/lib/Either.js";
import { type Entry, isLater } from "../conversation/protocol/entry.ts";
import type { EventType } from "../conversation/protocol/event.ts";
import { outstanding } from "../conversation/read/outstanding.ts";
import type { State } from "../conversation/protocol/state.ts";
import { frozen, frozenCopy } from "../thread/plain-data.ts";
import { foldVisiting, type JournalError } from "./fold.ts";
import { Copy } from "./fork-copy.ts";

/** The request of a copy. */
export interface ForkInput {
  /** The id of the copy; it must differ from that of the thread. */
  readonly threadId: string;
  /** The turn at its head, on the path or off it; 0 for the beginning. Default: the head. */
  readonly turn?: number;
  /** In milliseconds since the epoch. */
  readonly at: number;
}

/** The journal of a copy, and the parts of the thread that it does not contain. */
export interface ForkedJournal {
  readonly entries: readonly Entry[];
  readonly left: LeftBehind;
}

/** The parts of a thread that a copy does not contain, apart from turns. */
export interface LeftBehind {
  /** The ids of the thread's outstanding effects. */
  readonly effects: readonly string[];
  /** The ids of the asks that are open or wait in the thread. */
  readonly asks: readonly string[];
  /**
   * The entries after the copied turn that the copy does not contain, in order. These are messages that no closed turn
   * holds, system prompts, configurations, checkpoints and pins. Annotations of other turns (such as scores) are not
   * listed.
   */
  readonly entries: readonly LeftEntry[];
}

/** An entry of a thread that its copy does not contain. */
export interface LeftEntry {
  readonly seq: number;
  readonly type: EventType;
}

/**
 * Creates the journal of a copy up to a turn. It has the entries up to the one that closed the turn, at the same seqs,
 * then `thread.forked`, then later entries. Of these it always contains the metadata and everything about turns of the
 * copy (annotations, truncations, checkpoints, pins, redactions).
 *
 * At the head, the copy is the thread as it is now. It then also contains the system prompt, the configuration and the
 * messages that wait for the next turn. At an older turn, or one off the path, these are as they were then, and later
 * ones are listed in `left`. Asks that waited when the turn ended are among the copied entries, and are dropped there
 * as `left`.
 *
 * Turns, messages and digests equal those of the thread. Nothing is pending in the copy, and nothing runs again.
 * Returns an error text if there is no such copy.
 */
export const forkOf = (journal: readonly Entry[], input: ForkInput): Either.Either<string, ForkedJournal> => {
  const entries = frozenCopy(journal);
  const read = walked(entries);
  if (Either.isLeft(read)) return Either.left(`entry ${read.left.seq}: ${read.left.reason}`);
  const { closedBy, places, waiting, state } = read.right;
  const { threadId, conversation, open, queue } = state.context;
  if (input.threadId === threadId) return Either.left(`a copy of thread "${threadId}" needs another id than that`);
  const { turn = conversation.head, at } = input;
  const last = turn === 0 ? 0 : closedBy.get(turn);
  if (last === undefined) {
    const { length } = conversation.turns;
    return Either.left(`there is no closed turn ${turn}; there are ${length === 0 ? "none" : `1 to ${length}`}`);
  }
  const copy = new Copy(entries.slice(0, last + 1), { threadId: input.threadId, turn, at });
  // This comes first: while asks wait, most other entries would be refused.
  copy.add({ type: "thread.forked", at, from: { threadId, turn } });
  const later = entries.slice(last + 1).filter(isLater);
  const kept = copy.keep(later, { isWhole: turn === conversation.head, places, waiting });
  const newest = closedBy.get(conversation.turns.length) ?? 0;
  return Either.right({
    entries: frozen(copy.entries),
    left: {
      effects: outstanding(state).map(({ id }) => id),
      asks: [...(open?.asks ?? []), ...(open?.joining ?? []), ...queue].map(({ askId }) => askId),
      entries: later
        .filter(({ seq, event: { type } }) => !kept.has(seq) && isNamed(type, seq > newest))
        .map(({ seq, event: { type } }) => ({ seq, type })),
    },
  });
};

/** Returns whether an uncopied entry is listed. A message of a closed turn belongs to its turn. */
const isNamed = (type: EventType, isBehindAllTurns: boolean): boolean =>
  appends(type)
    ? isBehindAllTurns
    : ["system.changed", "system.reset", "thread.configured", "checkpoint.named", "message.pinned"].includes(type);

const appends = (type: EventType): boolean => type === "message.appended" || type === "round.appended";

interface Walked {
  /** The seqs of the entries that closed each turn. */
  readonly closedBy: ReadonlyMap<number, number>;
  /** The turns that checkpoints name, by the seqs of the entries that named them. */
  readonly places: ReadonlyMap<number, number>;
  /** The ids of the messages that wait for the next turn, by the seqs of the entries that brought them. */
  readonly waiting: ReadonlyMap<number, readonly string[]>;
  /** The state after the last entry. */
  readonly state: State;
}

const walked = (entries: readonly Entry[]): Either.Either<JournalError, Walked> => {
  const closedBy = new Map<number, number>();
  const places = new Map<number, number>();
  const waiting = new Map<number, readonly string[]>();
  const folded = foldVisiting(entries, ({ seq, event }, before, after) => {
    const { turns, appended, checkpoints } = after.context.conversation;
    const closed = before.context.conversation.turns.length;
    for (let turn = closed + 1; turn <= turns.length; turn++) closedBy.set(turn, seq);
    if (event.type === "checkpoint.named") places.set(seq, checkpoints[event.name] ?? 0);
    const known = before.context.conversation.appended.length;
    if (appended.length === 0) waiting.clear();
    else if (appends(event.type) && after.context.open === null)
      waiting.set(
        seq,
        appended.slice(known).map(({ id }) => id),
      );
  });
  return Either.isLeft(folded) ? folded : Either.right({ closedBy, places, waiting, state: folded.right });
};
