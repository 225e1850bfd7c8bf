import type { HostedThread } from "@colloquy/host";
import { textOf, toArray, turnNumbered } from "@colloquy/machine";

/** An earlier question that is being edited, to be asked again as a branch from its parent. */
export class EditedQuestion {
  #turn: { readonly number: number; readonly parent: number } | null = null;

  /** The turn of the edited question; null if there is none. */
  get turn(): number | null {
    return this.#turn?.number ?? null;
  }

  /** Returns the question of a turn, for editing. @throws Error if it has none */
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

  /** Moves the head to the parent of the edited question. */
  async goBack(thread: HostedThread): Promise<void> {
    if (this.#turn !== null) await thread.branch(this.#turn.parent);
    this.#turn = null;
  }
}
