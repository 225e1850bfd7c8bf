import type { ChatRequest } from "./chat-request.ts";

/** A request of a page that may have to wait. */
export interface WaitingPage {
  /** Whether a later request replaced its message: nobody waits for the answer any more. */
  readonly isReplaced: boolean;
  /** Ends the wait. */
  readonly end: () => void;
}

interface Waiting extends WaitingPage {
  readonly number: number;
  readonly request: ChatRequest;
  isReplaced: boolean;
}

/**
 * The requests of pages that wait outside their threads, because an ask at another place than the end cannot queue. A
 * later request replaces the ones whose message it brings along, edits, or leaves out.
 */
export class WaitingPages {
  #count = 0;
  readonly #waiting = new Map<string, Set<Waiting>>();

  /** Returns a number that is higher for a later request. */
  next(): number {
    return (this.#count += 1);
  }

  /** Notes a request until its wait ends. */
  add(threadId: string, number: number, request: ChatRequest): WaitingPage {
    const all = this.#waiting.get(threadId) ?? new Set();
    const end = (): void => {
      all.delete(waiting);
      if (all.size === 0) this.#waiting.delete(threadId);
    };
    const waiting: Waiting = { number, request, isReplaced: false, end };
    this.#waiting.set(threadId, all.add(waiting));
    return waiting;
  }

  /** Replaces the earlier requests that a request makes void. */
  replace(threadId: string, number: number, request: ChatRequest): void {
    for (const waiting of this.#waiting.get(threadId) ?? [])
      if (waiting.number < number && isVoidAfter(waiting.request, request)) waiting.isReplaced = true;
  }
}

const isVoidAfter = ({ messages: earlier }: ChatRequest, { messages, trigger, messageId }: ChatRequest): boolean => {
  const brought = messages.slice(0, -1).some(({ id }) => id === earlier.at(-1)?.id);
  const replaced = trigger === "regenerate-message" ? (messageId ?? messages.at(-1)?.id) : messageId;
  return brought || earlier.some(({ id }) => id === replaced);
};
