import type { ApprovalBlock } from "../blocks/block.ts";
import type { Key } from "../input/key.ts";
import type { Exchange } from "./exchange.ts";

/** An answer that Enter completes: the reason of a denial, or that the tool always runs. */
export type BegunAnswer = "reason" | "always";

/**
 * The keys that answer an approval. They count only when the person has seen it: it was drawn, and then no key came for
 * half a second. Text that was being typed when it appeared stays text, and so does a key that repeats when the next
 * approval appears.
 */
export class ApprovalKeys {
  readonly #exchange: Pick<Exchange, "approval" | "approvals">;
  readonly #now: () => number;
  #drawn = { id: "", at: 0 };
  #pressedAt = Number.NEGATIVE_INFINITY;
  #begun: { readonly id: string; readonly answer: BegunAnswer } | null = null;

  /** @param now the milliseconds of a monotonic clock */
  constructor(exchange: Pick<Exchange, "approval" | "approvals">, now: () => number) {
    this.#exchange = exchange;
    this.#now = now;
  }

  /** Returns the begun answer; null when its approval no longer needs one. */
  get begun(): BegunAnswer | null {
    return this.#begun !== null && this.#begun.id === this.#exchange.approval?.id ? this.#begun.answer : null;
  }

  /** Notes that the open blocks were drawn. */
  drawn(): void {
    const { approval } = this.#exchange;
    if (approval?.isAsked === true && approval.id !== this.#drawn.id)
      this.#drawn = { id: approval.id, at: this.#now() };
  }

  /** Notes a key. Returns true if it was an answer, or the beginning of one. */
  press(key: Key, isInputEmpty: boolean): boolean {
    const approval = this.#seen();
    this.#pressedAt = this.#now();
    if (key.type === "key") return false;
    if (this.begun === "always") this.leave();
    if (key.type !== "text" || approval === null || this.begun !== null || !isInputEmpty) return false;
    if (key.text === "y") void this.#exchange.approvals.answer(approval, true);
    else if (key.text === "n") this.#begun = { id: approval.id, answer: "reason" };
    else if (key.text === "a") this.#begun = { id: approval.id, answer: "always" };
    else return false;
    return true;
  }

  /** Completes a begun answer. @param take returns the reason */
  complete(take: () => string): boolean {
    const { begun } = this;
    const { approval } = this.#exchange;
    this.leave();
    if (begun === null || approval === null) return false;
    void (begun === "always"
      ? this.#exchange.approvals.trust(approval)
      : this.#exchange.approvals.answer(approval, false, take()));
    return true;
  }

  leave(): void {
    this.#begun = null;
  }

  #seen(): ApprovalBlock | null {
    const { approval } = this.#exchange;
    const isSeen =
      approval?.id === this.#drawn.id && this.#now() - Math.max(this.#drawn.at, this.#pressedAt) >= pauseMs;
    return isSeen ? approval : null;
  }
}

const pauseMs = 500;
