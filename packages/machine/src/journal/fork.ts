import * as Either from "fp-ts/lib/Either.js";
import { type Entry, isLater } from "../conversation/protocol/entry.ts";
import type { EventType } from "../conversation/protocol/event.ts";
import { outstanding } from "../conversation/read/outstanding.ts";
import type { State } from "../conversation/protocol/state.ts";
import { frozen, frozenCopy } from "../thread/frozen.ts";
import { foldVisiting, type JournalError } from "./fold.ts";
import { Copy } from "./fork-copy.ts";

/** What a copy is to be. */
export interface ForkInput {
  /** The id of the copy: another than that of the thread. */
  readonly threadId: string;
  /** The turn at its head, on the path or off it; 0 for the beginning. Default: the head. */
  readonly turn?: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The journal of a copy, and what of the thread is not in it. */
export interface ForkedJournal {
  readonly entries: readonly Entry[];
  readonly left: LeftBehind;
}

/** What stays in a thread that is copied, beside turns that are not in the copy. */
export interface LeftBehind {
  /** What is under way in the thread now, by id. */
  readonly effects: readonly string[];
  /** The asks that are open or wait there now, by id. */
  readonly asks: readonly string[];
  /**
   * What came behind the copied turn and is not in the copy, in order: messages that no closed turn holds, system
   * prompts, configurations, checkpoints, pins. What is said of other turns (their scores) goes with those, unnamed.
   */
  readonly entries: readonly LeftEntry[];
}

/** An entry of a thread that is not in a copy of it. */
export interface LeftEntry {
  readonly seq: number;
  readonly type: EventType;
}

/**
 * The journal of a copy up to a turn: the entries up to the one that closed it, at the same seqs; `thread.forked`; and what
 * came since. Of that, what concerns turns of the copy (annotations, truncations, checkpoints, pins, redactions) and
 * the metadata are always in it. At the head the copy is the thread as it is: the system prompt, the configuration and the
 * messages that wait for the next turn are in it too. Of an older turn, or one off the path, they are those of then; what
 * came later is in `left`. Asks that waited when the turn ended are among the copied entries, and are dropped there as
 * `left`. Turns, messages and digests are those of the thread, nothing is under way, and nothing is run
 * again. In words why there is no such copy.
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
  // Before all else: while asks wait, most of the rest would be refused.
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

/** What an entry that is not copied would be missed for; a message that a closed turn holds is missed with its turn. */
const isNamed = (type: EventType, isBehindAllTurns: boolean): boolean =>
  appends(type)
    ? isBehindAllTurns
    : ["system.changed", "system.reset", "thread.configured", "checkpoint.named", "message.pinned"].includes(type);

const appends = (type: EventType): boolean => type === "message.appended" || type === "round.appended";

interface Walked {
  /** The seqs of the entries that closed each turn. */
  readonly closedBy: ReadonlyMap<number, number>;
  /** The turns that were named, by the seqs of the entries that named them. */
  readonly places: ReadonlyMap<number, number>;
  /** The ids of the messages that wait for the next turn, by the seqs of the entries that brought them. */
  readonly waiting: ReadonlyMap<number, readonly string[]>;
  /** At the end. */
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
