import type { CallPart } from "../program/parts.ts";

/** A call that is waited for in this process. */
export interface WaitingCall {
  show(part: CallPart): void;
  /** Whether a run of that session waits for it. */
  isWithin(session: object): boolean;
  /** The program threw: the call rejects with just this. */
  threw(error: unknown): void;
  /** The call settles when this is done, which never rejects. */
  after(done: Promise<void>): void;
}

/** The calls that are waited for here, by thread and ask. */
export class WaitingCalls {
  readonly #calls = new Map<string, Set<WaitingCall>>();

  /** @returns what ends the waiting. */
  add(threadId: string, askId: string, call: WaitingCall): () => void {
    const key = keyOf(threadId, askId);
    const calls = this.#calls.get(key) ?? new Set();
    this.#calls.set(key, calls.add(call));
    return () => {
      calls.delete(call);
      if (calls.size === 0) this.#calls.delete(key);
    };
  }

  of(threadId: string, askId: string | undefined): readonly WaitingCall[] {
    return askId === undefined ? [] : [...(this.#calls.get(keyOf(threadId, askId)) ?? [])];
  }
}

const keyOf = (threadId: string, askId: string): string => JSON.stringify([threadId, askId]);
