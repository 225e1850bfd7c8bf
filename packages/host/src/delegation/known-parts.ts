import type { State } from "@colloquy/machine";
import { type AskPart, partsAwaited } from "../ask/parts.ts";
import type { HostContext } from "../context/host-context.ts";
import { fromStore } from "../ports/store-call.ts";
import type { PartBatchPlace } from "../ports/store.ts";
import { partsIn } from "../shown/part-body.ts";
import { notShown, replayOfOpen } from "../shown/replay.ts";
import type { PlacedPart, TurnParts } from "../shown/turn-parts.ts";

/** Reads the parts that the holders of a thread wrote to the store's log. Each read continues after the last. */
export class PartLogReader {
  readonly #host: HostContext;
  readonly #threadId: string;
  readonly #read = new Set<TurnParts>();
  #after: PartBatchPlace | null = null;
  #isFailing = false;

  constructor(host: HostContext, threadId: string) {
    this.#host = host;
    this.#threadId = threadId;
  }

  /**
   * Keeps new parts in memory. Never rejects: of failures in a row the first is reported. @param turn reads only this
   * turn
   */
  async read(turn?: number): Promise<void> {
    const { partLogging, clock, shown } = this.#host;
    if (partLogging === null) return;
    const range = { at: clock.now(), after: this.#after, ...(turn === undefined ? {} : { turn }) };
    try {
      const batches = await fromStore(this.#threadId, "read what was shown", () =>
        partLogging.log.read(this.#threadId, range),
      );
      for (const batch of batches) {
        const parts = shown.open(this.#threadId, batch.turn);
        this.#read.add(parts);
        for (const part of partsIn(batch.body, batch.token)) parts.addShown(part);
        if (parts.hasEnded) shown.rest(this.#threadId, parts);
        this.#after = { token: batch.token, number: batch.number };
      }
      this.#isFailing = false;
    } catch (thrown) {
      if (!this.#isFailing) partLogging.report(thrown);
      this.#isFailing = true;
    }
  }

  /** Ends the reading. */
  end(): void {
    for (const parts of this.#read) this.#host.shown.rest(this.#threadId, parts);
  }
}

/**
 * Loads the parts that were shown of the open turn, for the holder of its thread: from the log, or else from the
 * journal. Never rejects.
 */
export const knowShown = async (
  host: HostContext,
  threadId: string,
  open: NonNullable<State["context"]["open"]>,
): Promise<void> => {
  await new PartLogReader(host, threadId).read(open.number);
  const parts = host.shown.open(threadId, open.number);
  if (parts.parts.length === 0) completeShown(parts, replayOfOpen(open));
};

/** Adds to the shown parts of a turn those that its journal has. */
export const completeShown = (parts: TurnParts, whole: readonly AskPart[]): void => {
  for (const { index, part } of notShown(parts.parts, whole)) parts.addOfJournal(index, part);
};

/**
 * Adds to the shown parts of the open turn those that its journal has, and its pending requests. Returns the ones that
 * were missing.
 *
 * @param epoch the places in an open turn have a meaning only in this process: its results may arrive in any order.
 */
export const completeOpen = (parts: TurnParts, epoch: number, state: State): readonly PlacedPart[] => {
  const { open } = state.context;
  if (open === null) return [];
  const whole = [...replayOfOpen(open), ...partsAwaited(state)];
  const newest = whole.reduce((step, part) => ("step" in part ? Math.max(step, part.step) : step), 0);
  if (newest === 0) return [];
  // Earlier steps are complete.
  const later = whole.filter((part) => !("step" in part) || part.step >= parts.journalledStep);
  const missing = notShown(parts.parts, later);
  if (missing.length > 0) parts.journalledStep = newest;
  return missing.map(({ part }) => ({ part, place: parts.add(epoch, part) }));
};
