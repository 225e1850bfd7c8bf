import { AskRefusedError, AskReturnedError, type HostedThread, TurnError } from "@colloquy/host";
import type { Content } from "@colloquy/machine";
import { failureText } from "../text/failure-text.ts";
import { type AnswerBlocks, withBlock } from "./answer-blocks.ts";
import type { Block } from "../blocks/block.ts";

interface SteeringEvents {
  readonly changed: () => void;
  /** The model reads the text. `into` adds it to the shown blocks. */
  readonly read: (question: Block, into: (blocks: AnswerBlocks, block: Block) => AnswerBlocks) => void;
  /** The text cannot be read within a turn. */
  readonly refused: (text: string, why: string) => void;
  /** The text has no effect; `why` is null if the turn ended first. */
  readonly giveBack: (text: string, why: string | null) => void;
}

/** The texts that were sent into the open turn and are not read yet. */
export class Steering {
  readonly #texts = new Map<string, string>();
  readonly #events: SteeringEvents;

  constructor(events: SteeringEvents) {
    this.#events = events;
  }

  get texts(): readonly string[] {
    return [...this.#texts.values()];
  }

  /** Sends a text and its attachments into the turn of an ask. Never rejects. */
  async send(text: string, content: Content, thread: HostedThread, during: string): Promise<void> {
    const asked = thread.steer(content, { during });
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

  /** Shows the text of an ask that the model reads, unless it was shown before. */
  read(askId: string, into: (blocks: AnswerBlocks, block: Block) => AnswerBlocks): void {
    const text = this.#texts.get(askId);
    this.#texts.delete(askId);
    if (text !== undefined) this.#events.read({ type: "question", text, fate: "steered" }, into);
  }

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
