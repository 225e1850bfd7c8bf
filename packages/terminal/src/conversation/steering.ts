import { AskRefusedError, AskReturnedError, type HostedThread, TurnError } from "@colloquy/host";
import { failureText } from "../text/failure-text.ts";
import { type AnswerBlocks, withBlock } from "./answer-blocks.ts";
import type { Block } from "../blocks/block.ts";

/** What becomes of what was sent into a turn. */
export interface SteeringEvents {
  readonly changed: () => void;
  /** The model reads it. `into` says where it stands among what is shown. */
  readonly read: (question: Block, into: (blocks: AnswerBlocks, block: Block) => AnswerBlocks) => void;
  /** It can't be read within a turn. */
  readonly refused: (text: string, why: string) => void;
  /** Nothing became of it; null: the turn ended first. */
  readonly giveBack: (text: string, why: string | null) => void;
}

/** What was sent into the turn that is open, and was not read yet. */
export class Steering {
  /** By its ask. */
  readonly #texts = new Map<string, string>();
  readonly #events: SteeringEvents;

  constructor(events: SteeringEvents) {
    this.#events = events;
  }

  get texts(): readonly string[] {
    return [...this.#texts.values()];
  }

  /** Sends a text into the turn of an ask. Never rejects. */
  async send(text: string, thread: HostedThread, during: string): Promise<void> {
    const asked = thread.steer(text, { during });
    this.#texts.set(asked.askId, text);
    this.#events.changed();
    try {
      await asked;
    } catch (thrown) {
      const wasRead = thrown instanceof TurnError && thrown.summary.turn !== null;
      if (!wasRead && this.#texts.delete(asked.askId)) return this.#unread(text, thrown);
    }
    this.read(asked.askId, withBlock);
  }

  /** The model reads what an ask sent, where that was not shown yet. */
  read(askId: string, into: (blocks: AnswerBlocks, block: Block) => AnswerBlocks): void {
    const text = this.#texts.get(askId);
    this.#texts.delete(askId);
    if (text !== undefined) this.#events.read({ type: "question", text, fate: "steered" }, into);
  }

  /** Nothing is waited for any more. Gives what was not read. */
  end(): readonly string[] {
    const { texts } = this;
    this.#texts.clear();
    return texts;
  }

  #unread(text: string, thrown: unknown): void {
    if (thrown instanceof AskRefusedError) this.#events.refused(text, failureText(thrown));
    else this.#events.giveBack(text, thrown instanceof AskReturnedError ? null : failureText(thrown));
  }
}
