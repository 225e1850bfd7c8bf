import type { CallPart } from "../program/program.ts";

/** A call for which a caller in this process waits. */
export interface WaitingCall {
  show(part: CallPart): void;
  /** Returns whether a run of that session waits for it. */
  isWithin(session: object): boolean;
  /** Makes the call reject with exactly this error of the program. */
  threw(error: unknown): void;
  /** Delays the call until this promise resolves; it must never reject. */
  after(done: Promise<void>): void;
}

/** The waiting calls of this process, by thread and ask. */
export class WaitingCalls {
  readonly #calls = new Map<string, Set<WaitingCall>>();

  /** @returns the function that removes the call. */
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
