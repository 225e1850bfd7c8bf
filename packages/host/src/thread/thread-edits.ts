import type {
  Event,
  HeadMoved,
  JsonObject,
  MessageDraft,
  Move,
  RoundAppended,
  SeedDraft,
  State,
  SystemDraft,
  Turn,
  TurnAnnotated,
} from "@colloquy/machine";
import { loadMessages } from "@colloquy/machine/storage";
import { redoTarget, undoTarget } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { type ThreadDefaults, threadDefaultNames } from "../context/host-context.ts";
import { EventRefusedError } from "../boundary/errors.ts";
import { ThreadBase } from "./thread-base.ts";
import { givenStart } from "../boundary/given-event.ts";

/** A name for a place in the conversation. */
export interface Checkpoint {
  readonly name: string;
  /** The turn that it stands behind; 0 for the beginning. */
  readonly turn: number;
}

/** What can be changed about a thread by hand. Each change is one entry more: nothing is removed by any of them. */
export class ThreadEdits extends ThreadBase {
  /** Begins the thread. Rejects with `ThreadExistsError` when it was begun before, with `SeedError` for a seed that is no conversation. */
  async start(input: ThreadDefaults = {}): Promise<void> {
    this.checkOptions("start", input, threadDefaultNames);
    await this.post({ event: givenStart({ ...input, type: "thread.started", threadId: this.id, at: this.now() }) });
  }

  /** A message joins the thread, and no model is called; in an open turn, at its next gap. */
  async append(message: MessageDraft): Promise<void> {
    await this.tell({ type: "message.appended", at: this.now(), message });
  }

  /**
   * A whole round that was had elsewhere joins the thread: what an assistant asked tools for, and one result for each call,
   * in the order of the calls. No model is called and no tool is run; in an open turn, at its next gap. The thread's journal
   * rises to format 2, which versions before 0.2 refuse to read.
   */
  async appendRound(
    reply: RoundAppended["reply"],
    results: RoundAppended["results"],
    metadata?: JsonObject,
  ): Promise<void> {
    const more = metadata === undefined ? {} : { metadata };
    await this.tell({ type: "round.appended", at: this.now(), reply, results, ...more });
  }

  /** A turn that did not happen here joins the thread, whole, behind the head. */
  async addTurn(messages: readonly SeedDraft[], metadata?: JsonObject): Promise<void> {
    await this.tell({ type: "turn.added", at: this.now(), messages, ...(metadata === undefined ? {} : { metadata }) });
  }

  /** Something is said about a turn, such as a score. */
  async annotate(turn: number, name: string, value: TurnAnnotated["value"], metadata?: JsonObject): Promise<void> {
    const said = metadata === undefined ? {} : { metadata };
    await this.tell({ type: "turn.annotated", at: this.now(), turn, name, value, ...said });
  }

  /** Of the answer of a turn only so many characters were spoken or shown; prompts show no more of it. */
  async truncate(turn: number, characters: number): Promise<void> {
    await this.tell({ type: "answer.truncated", at: this.now(), turn, characters });
  }

  /** The system prompt is another from the next model call on; null for none. */
  async changeSystem(system: SystemDraft | null): Promise<void> {
    await this.tell({ type: "system.changed", at: this.now(), system });
  }

  /** The system prompt is the one that the thread began with. */
  async resetSystem(): Promise<void> {
    await this.tell({ type: "system.reset", at: this.now() });
  }

  /** The thread's metadata is another, whole. */
  async setMetadata(metadata: JsonObject): Promise<void> {
    await this.tell({ type: "metadata.changed", at: this.now(), metadata });
  }

  /** From here on each prompt shows a message of the path whole, by its id, with the round that it belongs to. */
  async pin(messageId: string): Promise<void> {
    await this.#pin(messageId, true);
  }

  /** A message is shown again as the policy has it. */
  async unpin(messageId: string): Promise<void> {
    await this.#pin(messageId, false);
  }

  /** The conversation goes on behind another turn, by its number (0 is the beginning) or by the name of a checkpoint. */
  async moveHead(to: HeadMoved["to"]): Promise<void> {
    await this.tell({ type: "head.moved", at: this.now(), to });
  }

  /** The same for a turn: what is asked next is another branch behind it. */
  async branch(turn: number): Promise<void> {
    await this.moveHead(turn);
  }

  /** Takes back the newest turns of the path, as many as there are at most. Gives them, newest first. */
  undo(steps = 1): Promise<readonly Turn[]> {
    return this.#move(steps, undoTarget);
  }

  /** Takes back the newest turn, and gives it; null at the beginning. */
  async pop(): Promise<Turn | null> {
    return (await this.undo())[0] ?? null;
  }

  /** Goes on towards the newest turn that continues from the head, as many turns as there are at most. Gives them, newest first. */
  redo(steps = 1): Promise<readonly Turn[]> {
    return this.#move(steps, redoTarget);
  }

  /** The conversation goes on behind what the thread was seeded with. */
  async clear(): Promise<void> {
    await this.moveHead(0);
  }

  /** As `clear`, and the system prompt is the one that the thread began with. */
  async reset(): Promise<void> {
    await this.clear();
    await this.resetSystem();
  }

  /** Gives the present place a name, to come back to by `restore`. A name that is given again means the new place. */
  async checkpoint(name: string): Promise<void> {
    await this.tell({ type: "checkpoint.named", at: this.now(), name });
  }

  /** The conversation goes on at the place of that name. One that is not there is refused with the names that are. */
  async restore(name: string): Promise<void> {
    await this.moveHead({ checkpoint: name });
  }

  /** The names that were given. Takes no lease. */
  async checkpoints(): Promise<readonly Checkpoint[]> {
    const named = await this.look(({ context }) => Object.entries(context.conversation.checkpoints));
    return (named ?? []).map(([name, turn]) => ({ name, turn }));
  }

  /** Cancels the open turn, whoever asked. */
  async cancel(reason?: string): Promise<void> {
    await this.tell({ type: "cancel.requested", at: this.now(), ...(reason === undefined ? {} : { reason }) });
  }

  async #pin(message: string, pinned: boolean): Promise<void> {
    await this.tell({ type: "message.pinned", at: this.now(), message, pinned });
  }

  /** Where to is seen when it is told: what was told before it may have moved the head. */
  async #move(steps: number, targetOf: (state: State, steps: number) => Move): Promise<readonly Turn[]> {
    if (!(Number.isSafeInteger(steps) && steps >= 0))
      throw new RangeError(`steps is ${steps}; it must be a whole number, 0 or more`);
    const moved = (to: number): Event => ({ type: "head.moved", at: this.now(), to });
    let turns: readonly Turn[] = [];
    const receipt = await this.post({
      event: moved(0),
      aim: (state) => {
        const target = targetOf(state, steps);
        turns = target.turns.map((turn) => loadMessages(turn));
        return turns.length > 0
          ? Either.right(moved(target.head))
          : Either.left({ kind: "stale", reason: "nowhere to go" });
      },
    });
    if (receipt.handled || turns.length === 0) return turns;
    throw new EventRefusedError(this.id, receipt.refusal);
  }
}
