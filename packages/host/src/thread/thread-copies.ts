import type { Entry, Event, JsonObject, Refusal, State } from "@colloquy/machine";
import type { LeftBehind } from "@colloquy/machine/journal";
import type { RedactionTarget } from "@colloquy/machine/storage";
import type { StateDifference } from "@colloquy/machine/inspect";
import { differenceBetween } from "@colloquy/machine/inspect";
import { entriesToRedact } from "@colloquy/machine/storage";
import { forkOf, stateAt } from "@colloquy/machine/journal";
import { frozenCopy } from "@colloquy/machine/hosting";
import { transition } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import {
  EventRefusedError,
  JournalUnreadableError,
  ThreadClosedError,
  ThreadUnknownError,
} from "../boundary/errors.ts";
import type { HostedThread } from "./hosted-thread.ts";
import type { OptionNames } from "../boundary/option-names.ts";
import { copiedEntries } from "./copied-entries.ts";
import { deleteThread } from "./deletion.ts";
import { foldedState, readJournal } from "../journal/read-journal.ts";
import { withRedactions } from "../journal/redaction.ts";
import { type ChosenEntries, redactJournal } from "./redact.ts";
import { ThreadEdits } from "./thread-edits.ts";
import { givenEvent } from "../boundary/given-event.ts";

/** How a thread is forked. */
export interface ForkOptions {
  /** The turn at which the copy ends; 0 for the beginning. Default: the head. */
  readonly turn?: number;
  /** The id of the copy. Default: drawn. */
  readonly threadId?: string;
  /** The copy's metadata, whole. Default: that of this thread. */
  readonly metadata?: JsonObject;
}

/** A copy of a thread. */
export interface Fork {
  readonly thread: HostedThread;
  /** What was under way, waited or was told later in this thread, and is not in the copy. */
  readonly left: LeftBehind;
}

/** How a thread is redacted. */
export interface RedactOptions {
  /** Kept in the journal. */
  readonly reason?: string;
  /** The ids of forks of this thread, and of forks of those, in which the same words are taken out as well. */
  readonly copies?: readonly string[];
}

/** A thread as a whole: its copies, what it was, and its end. */
export class ThreadCopies extends ThreadEdits {
  /** The journal, entry by entry: all there is of the thread. `host.importJournal` reads it back. Takes no lease. */
  async exportJournal(): Promise<readonly Entry[]> {
    const entries = withRedactions(await readJournal(this.host, this.id));
    if (entries.length === 0) throw new ThreadUnknownError(this.id);
    return entries;
  }

  /** The state as it was behind an entry, by its `seq`. Takes no lease. */
  async at(seq: number): Promise<State> {
    return this.#stateAt(await this.exportJournal(), seq);
  }

  /** What is otherwise behind one entry than behind another. Takes no lease. */
  async difference(from: number, to: number): Promise<StateDifference> {
    const entries = await this.exportJournal();
    return differenceBetween(this.#stateAt(entries, from), this.#stateAt(entries, to));
  }

  /**
   * Copies the thread up to a turn into a new one. Nothing is run again. What is under way or waits here stays here. Takes
   * no lease on this thread. Rejects with `ThreadExistsError` when there is one of the id already.
   */
  async fork(options: ForkOptions = {}): Promise<Fork> {
    this.checkOptions("fork", options, forkOptionNames);
    const { turn, threadId, metadata } = options;
    const thread = this.loops.thread(threadId ?? "new");
    const at = this.now();
    // At once: what is handed in may be another by the time that the journal is read.
    const changed = metadata === undefined ? null : givenEvent({ type: "metadata.changed", at, metadata });
    if (changed !== null && Either.isLeft(changed)) throw new EventRefusedError(this.id, changed.left);
    const copied = forkOf(await this.exportJournal(), {
      at,
      threadId: thread.id,
      ...(turn === undefined ? {} : { turn }),
    });
    if (Either.isLeft(copied)) throw new EventRefusedError(this.id, { kind: "unknown", reason: copied.left });
    const { entries, left } = copied.right;
    const all = changed === null ? entries : [...entries, this.#entryBehind(entries, changed.right)];
    await this.loops.store(thread.id, all);
    return { thread, left };
  }

  /**
   * Takes words out of the journal, for good, and with them what was derived from them: summaries, the snapshot, what the
   * search found them by. The place stays, and says so. Gives the seqs of this thread's entries. Refused as busy while a
   * turn is open. The copies come first, one after the other; where one can't be redacted, do it again: what is done is done.
   */
  async redact(given: RedactionTarget, options: RedactOptions = {}): Promise<readonly number[]> {
    this.checkOptions("redact", options, redactOptionNames);
    const { reason } = options;
    const [target, copies] = frozenCopy([given, options.copies ?? []] as const);
    if (!isTarget(target)) throw new EventRefusedError(this.id, noTarget);
    const chosen = (entries: readonly Entry[]) => Either.mapLeft(refusalOf)(entriesToRedact(entries, target));
    if (copies.length > 0) await this.#redactCopies(target, chosen, copies, reason);
    return this.redactEntries(chosen, reason);
  }

  /**
   * Deletes the thread: nothing that was said in it is in the store any more. One that is open here is closed first. False
   * when there was none. Rejects with `ThreadHeldError` when another host holds it. Its forks are threads of their own. What
   * another host has asked meanwhile, and waits for, begins a new thread of that id.
   */
  async delete(): Promise<boolean> {
    const why = new ThreadClosedError(this.id, "deleted");
    const removed = () => this.loops.alone(this.id, () => deleteThread(this.host, this.id), why);
    // One that is only followed here is not closed for nothing.
    return this.#whenOpen(removed, () => null).catch((error: unknown) => {
      if (error instanceof ThreadUnknownError) return removed();
      throw error;
    });
  }

  /** Lets go of the thread: what is under way here is stopped, and goes on when it is next opened, here or elsewhere. */
  async close(): Promise<void> {
    await this.loops.opened(this.id)?.close();
  }

  protected async redactEntries(chosen: ChosenEntries, reason: string | undefined): Promise<readonly number[]> {
    const redact = () => this.loops.alone(this.id, () => redactJournal(this.host, this.id, chosen, reason));
    return this.#whenOpen(redact, ({ context: { open, waking } }, hasEnvelopes) =>
      open === null && waking === null && !hasEnvelopes ? null : busy,
    );
  }

  /** Where the thread is in use here: when it is its turn among what is told, unless there is a reason not to. */
  async #whenOpen<Done>(
    work: () => Promise<Done>,
    whyNot: (state: State, hasEnvelopes: boolean) => Refusal | null,
  ): Promise<Done> {
    const loop = this.loops.opened(this.id);
    if (loop === undefined) return work();
    return new Promise((resolve, reject) => {
      loop.post({
        event: { type: "thread.redacted", at: this.now(), seqs: [] },
        aim: (state) => Either.left(whyNot(state, loop.hasEnvelopes) ?? itsMoment),
        sender: {
          accepted: () => {},
          // At once, so that nobody comes between.
          refused: (refusal) => {
            if (refusal === itsMoment) resolve(work());
            else reject(new EventRefusedError(this.id, refusal));
          },
          failed: reject,
        },
      });
    });
  }

  async #redactCopies(
    target: RedactionTarget,
    chosen: ChosenEntries,
    copies: readonly string[],
    reason: string | undefined,
  ): Promise<void> {
    const original = await this.exportJournal();
    const meant = chosen(original);
    if (Either.isLeft(meant)) throw new EventRefusedError(this.id, meant.left);
    const known = new Set([this.id, ...copies]);
    for (const copy of copies) {
      await this.loops.thread(copy).redactEntries((entries) => {
        const isCopy = entries.some(({ event }) => event.type === "thread.forked" && known.has(event.from.threadId));
        return Either.mapLeft(refusalOf)(
          isCopy
            ? copiedEntries(original, meant.right, target, entries)
            : Either.left(`it is no copy of thread "${this.id}"`),
        );
      }, reason);
    }
  }

  #stateAt(entries: readonly Entry[], seq: number): State {
    if (!(Number.isSafeInteger(seq) && seq >= 0 && seq < entries.length))
      throw new RangeError(`thread "${this.id}" has the entries 0 to ${entries.length - 1}, and no entry ${seq}`);
    const state = stateAt(entries, seq);
    if (Either.isRight(state)) return state.right;
    throw new JournalUnreadableError(this.id, `entry ${state.left.seq}: ${state.left.reason}`);
  }

  #entryBehind(entries: readonly Entry[], event: Event): Entry {
    const step = transition(this.host.machine, foldedState(this.id, entries), event);
    if (!step.handled) throw new EventRefusedError(this.id, step.refusal);
    return step.entry;
  }
}

const forkOptionNames: OptionNames<ForkOptions> = { turn: true, threadId: true, metadata: true };

const redactOptionNames: OptionNames<RedactOptions> = { reason: true, copies: true };

/** Callers in JavaScript hand in anything, and a turn that is named otherwise would be one of which nothing is found. */
const isTarget = (target: unknown): boolean => {
  if (typeof target !== "object" || target === null) return false;
  if ("turn" in target) return Number.isSafeInteger(target.turn);
  if ("message" in target) return typeof target.message === "string";
  return "seqs" in target && Array.isArray(target.seqs) && target.seqs.every(Number.isSafeInteger);
};

const noTarget: Refusal = {
  kind: "invalid",
  reason: "what is to be redacted is named by { turn }, a number, by { message }, an id, or by { seqs }, numbers",
};

const itsMoment: Refusal = { kind: "stale", reason: "there is nothing to tell" };

const busy: Refusal = {
  kind: "busy",
  reason: "a turn is open, or something waits to be told; wait for its end or cancel it, and redact then",
};

const refusalOf = (reason: string): Refusal => ({ kind: "unknown", reason });
