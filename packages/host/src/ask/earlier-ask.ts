import type { Refusal } from "@colloquy/machine";
import type { HandleCursor } from "../turn-log/cursor.ts";
import { Ask, type StopAsk } from "./ask.ts";

/**
 * A handle to an ask that was made before, on this host or another. While no code awaits it, the thread need not be
 * kept open for it. When code awaits it, it attaches itself to a loop of the thread again.
 */
export class EarlierAsk extends Ask {
  readonly #attach: (ask: Ask) => void;
  #isWaitedFor = false;
  #isAttached: boolean;

  /**
   * @param attach hands the ask to the loop of its thread.
   * @param isAttached whether the maker of the handle attaches it the first time.
   */
  constructor(
    threadId: string,
    askId: string,
    stop: StopAsk<Ask>,
    attach: (ask: Ask) => void,
    isAttached = true,
    parts?: HandleCursor,
  ) {
    super(threadId, askId, undefined, stop, parts);
    this.#attach = attach;
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

  protected override awaited(): void {
    this.#isWaitedFor = true;
    if (!this.#isAttached) this.#attach(this);
    this.#isAttached = true;
  }
}

/**
 * Refuses the look-up of an earlier ask. Like every repeated ask it then takes its outcome from the state. It fails
 * with this reason if the state does not have it.
 */
export const notAskedEarlier: Refusal = { kind: "stale", reason: "the thread knows no ask of this id, or no longer" };
