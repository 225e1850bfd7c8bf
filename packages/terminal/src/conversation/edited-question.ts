import type { HostedThread } from "@colloquy/host";
import { textOf, toArray, turnNumbered } from "@colloquy/machine";

/** An earlier question that is being changed, to be asked anew as a branch at its parent. */
export class EditedQuestion {
  #turn: { readonly number: number; readonly parent: number } | null = null;

  /** The turn whose question it is; null while none is changed. */
  get turn(): number | null {
    return this.#turn?.number ?? null;
  }

  /** Gives the question of a turn, to be changed. @throws Error where it has none */
  async begin(thread: HostedThread, number: number): Promise<string> {
    const state = await thread.state();
    const turn = state === null ? undefined : turnNumbered(state, number);
    const question = turn === undefined ? undefined : toArray(turn.messages).find(({ role }) => role === "user");
    if (turn === undefined || question === undefined) throw new Error(`turn ${number} has no question to edit`);
    this.#turn = { number, parent: turn.parent };
    return textOf(question);
  }

  leave(): void {
    this.#turn = null;
  }

  /** Goes on where the question was asked. */
  async goBack(thread: HostedThread): Promise<void> {
    if (this.#turn !== null) await thread.branch(this.#turn.parent);
    this.#turn = null;
  }
}
