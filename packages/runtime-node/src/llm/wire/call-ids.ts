import { digestOf } from "@colloquy/machine";
import { alphanumeric, matches } from "./names.ts";

/** The ids of calls that a prompt has so far. One that continues another sees the ids of both, and adds to its own. */
export class CallIds {
  readonly #before: CallIds | null;
  readonly #own = new Set<string>();

  constructor(before: CallIds | null = null) {
    this.#before = before;
  }

  /**
   * Adds a call, and returns its id on the wire: the provider's if it matches the pattern and no call before it has it, else
   * one that is made from the machine's own id of the call.
   */
  add(providerCallId: string | null, callId: string, pattern: string): string {
    const isFree = (id: string): boolean => matches(pattern, id) && !this.#has(id);
    const plain = `call_${callId.replaceAll(/[^0-9A-Za-z]/g, "_")}`;
    let id = [providerCallId, plain].find((each) => each !== null && isFree(each)) ?? null;
    for (let round = 0; id === null; round++) {
      const digest = alphanumeric(digestOf([callId, round]))
        .padStart(9, "0")
        .slice(-9);
      id = [digest, `call_${digest}`].find(isFree) ?? (round > 99 ? digest : null);
    }
    this.#own.add(id);
    return id;
  }

  #has(id: string): boolean {
    return this.#own.has(id) || (this.#before !== null && this.#before.#has(id));
  }
}
