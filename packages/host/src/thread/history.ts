import { type Entry, type State, type Event, type JsonObject, transition } from "@colloquy/machine";
import { differenceBetween, type StateDifference } from "@colloquy/machine/inspect";
import { stateAt, forkOf, type LeftBehind } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { JournalUnreadableError, ThreadUnknownError, EventRefusedError } from "../boundary/errors.ts";
import { givenEvent } from "../boundary/given-event.ts";
import { kinds, type OptionKinds } from "../boundary/option-kinds.ts";
import { readJournal, foldedState, withRedactions } from "../journal/read-journal.ts";
import { type ThreadRef, checkOptions, threadIdOf } from "./thread-ref.ts";

/** Returns the journal of a thread, entry by entry. @throws ThreadUnknownError, JournalUnreadableError, StoreError */
export const exportJournal = async ({ id, host }: ThreadRef): Promise<readonly Entry[]> => {
  const entries = withRedactions(await readJournal(host, id));
  if (entries.length === 0) throw new ThreadUnknownError(id);
  return entries;
};

/** Returns the state after an entry. @throws RangeError when the entry does not exist; errors of `exportJournal` */
export const stateBehind = async (thread: ThreadRef, seq: number): Promise<State> =>
  stateIn(thread, await exportJournal(thread), seq);

/** Returns how the state after entry `to` differs from the state after entry `from`. @throws as above */
export const differenceIn = async (thread: ThreadRef, from: number, to: number): Promise<StateDifference> => {
  const entries = await exportJournal(thread);
  return differenceBetween(stateIn(thread, entries, from), stateIn(thread, entries, to));
};

const stateIn = ({ id }: ThreadRef, entries: readonly Entry[], seq: number): State => {
  if (!(Number.isSafeInteger(seq) && seq >= 0 && seq < entries.length))
    throw new RangeError(`thread "${id}" has the entries 0 to ${entries.length - 1}, and no entry ${seq}`);
  const state = stateAt(entries, seq);
  if (Either.isRight(state)) return state.right;
  throw new JournalUnreadableError(id, `entry ${state.left.seq}: ${state.left.reason}`);
};

/** The options of a fork. */
export interface ForkOptions {
  /** The turn at which the copy ends; 0 for the beginning. Default: the head. */
  readonly turn?: number;
  /** The id of the copy. Default: a generated id. */
  readonly threadId?: string;
  /** The copy's metadata, whole. Default: that of this thread. */
  readonly metadata?: JsonObject;
}

/** A copy of a thread. */
export interface ForkOf<Thread> {
  readonly thread: Thread;
  /** Work that was in progress, waiting or sent later in this thread, and is not in the copy. */
  readonly left: LeftBehind;
}

/** Copies a thread up to a turn into a new one. Returns its id, and the work that is not in the copy. */
export const forkThread = async (
  thread: ThreadRef,
  options: ForkOptions,
): Promise<{ readonly threadId: string; readonly left: LeftBehind }> => {
  checkOptions(thread, "fork", options, forkOptionKinds);
  const { turn, metadata } = options;
  const { id, host, loops } = thread;
  const threadId = threadIdOf(options.threadId ?? "new", host.ids);
  const at = host.clock.now();
  // Copied at once: the caller may change it while the journal is read.
  const changed = metadata === undefined ? null : givenEvent<Event>({ type: "metadata.changed", at, metadata });
  if (changed !== null && Either.isLeft(changed)) throw new EventRefusedError(id, changed.left);
  const copied = forkOf(await exportJournal(thread), { at, threadId, ...(turn === undefined ? {} : { turn }) });
  if (Either.isLeft(copied)) throw new EventRefusedError(id, { kind: "unknown", reason: copied.left });
  const { entries, left } = copied.right;
  await loops.store(threadId, changed === null ? entries : [...entries, entryBehind(thread, entries, changed.right)]);
  return { threadId, left };
};

const entryBehind = ({ id, host }: ThreadRef, entries: readonly Entry[], event: Event): Entry => {
  const step = transition(host.machine, foldedState(id, entries), event);
  if (!step.handled) throw new EventRefusedError(id, step.refusal);
  return step.entry;
};

const forkOptionKinds: OptionKinds<ForkOptions> = {
  turn: kinds.anything,
  threadId: kinds.anything,
  metadata: kinds.anything,
};
