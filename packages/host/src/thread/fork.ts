import { type Entry, type Event, type JsonObject, transition } from "@colloquy/machine";
import { forkOf, type LeftBehind } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { EventRefusedError } from "../boundary/errors.ts";
import { givenEvent } from "../boundary/given-event.ts";
import type { OptionKinds } from "../boundary/option-kinds.ts";
import { foldedState } from "../journal/read-journal.ts";
import { exportJournal } from "./history.ts";
import { checkOptions, threadIdOf, type ThreadRef } from "./thread-ref.ts";

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

const forkOptionKinds: OptionKinds<ForkOptions> = { turn: true, threadId: true, metadata: true };
