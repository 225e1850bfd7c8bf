import type { Refusal, State } from "@colloquy/machine";
import type { HandleCursor } from "../turn-log/cursor.ts";
import { Ask, type StopAsk } from "./ask.ts";

/**
 * A handle to an ask that was made before, on this host or another. While no code awaits it, the thread need not be
 * kept open for it. When code awaits it, it attaches itself to a loop of the thread again.
 */
export class EarlierAsk extends Ask {
  readonly #means: EarlierMeans;
  #isWaitedFor = false;
  #isAttached: boolean;

  /** @param isAttached whether the maker of the handle attaches it the first time */
  constructor(threadId: string, askId: string, means: EarlierMeans, isAttached = true, parts?: HandleCursor) {
    super(threadId, askId, undefined, means.stop, parts);
    this.#means = means;
    this.#isAttached = isAttached;
  }

  override get isWaitedFor(): boolean {
    return this.#isWaitedFor;
  }

  override detach(): boolean {
    if (this.#isWaitedFor) return false;
    this.watcher = null;
    this.#isAttached = false;
    return true;
  }

  /** Names the ask in the refusal: the one that looks it up is the same for all asks. */
  override refused(refusal: Refusal, state: State | null): void {
    super.refused({ ...refusal, reason: `ask "${this.askId}": ${refusal.reason}` }, state);
  }

  protected override awaited(): void {
    this.#isWaitedFor = true;
    if (!this.#isAttached) this.#means.attach(this);
    this.#isAttached = true;
  }
}

/** The thread of an earlier ask, as the handle to that ask uses it. */
export interface EarlierMeans {
  readonly stop: StopAsk<Ask>;
  /** Hands the ask to a loop of its thread. */
  readonly attach: (ask: Ask) => void;
}

/** Refuses the look-up of an earlier ask, which takes its outcome from the state if that has it. */
export const notAskedEarlier: Refusal = {
  kind: "stale",
  reason: "the thread does not know it, or it was made too long ago",
};
