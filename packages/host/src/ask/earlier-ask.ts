import type { Refusal } from "@colloquy/machine";
import type { CodeWaits } from "../activity/code-waits.ts";
import { Ask, type StopAsk } from "./ask.ts";

/**
 * A handle to an ask that was made before, here or elsewhere. While no code waits for it, the thread need not be
 * kept open for it; it finds the thread anew when code does.
 */
export class EarlierAsk extends Ask {
  readonly #find: (ask: Ask) => void;
  #isWaitedFor = false;
  #isThere = true;

  /** @param find brings it to the loop of its thread; done once by its maker. */
  constructor(threadId: string, askId: string, stop: StopAsk, waits: CodeWaits, find: (ask: Ask) => void) {
    super(threadId, askId, undefined, stop, waits);
    this.#find = find;
  }

  override get isWaitedFor(): boolean {
    return this.#isWaitedFor;
  }

  override comesBack(): boolean {
    if (this.#isWaitedFor) return false;
    this.watch(null);
    this.#isThere = false;
    return true;
  }

  protected override awaited(): void {
    this.#isWaitedFor = true;
    if (!this.#isThere) this.#find(this);
    this.#isThere = true;
    super.awaited();
  }
}

/** The refusal of a look-up: the ask finds its outcome where the thread knows it, and fails with this reason where it does not. */
export const askedEarlier: Refusal = { kind: "stale", reason: "the thread knows no ask of this id, or no longer" };
