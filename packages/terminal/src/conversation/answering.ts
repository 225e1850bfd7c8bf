import { type AskHandle, type AskPart, TurnError } from "@colloquy/host";
import type { Json } from "@colloquy/machine";
import { type AnswerBlocks, noBlocks, withPart, withWhole } from "./answer-blocks.ts";
import type { Block } from "../blocks/block.ts";

/** An ask whose answer is shown: for a text, or for an output that is checked. */
export type TerminalAsk = AskHandle | AskHandle<Json>;

/** How an answer ended: with what was thrown where there is no whole one. */
export interface AnswerEnd {
  /** Null where no turn was opened. */
  readonly turn: number | null;
  readonly thrown: unknown;
}

/** Follows an ask to its end. Calls `onPart` behind each part, when `blocks` has it. Never rejects. */
export class Answering {
  blocks: AnswerBlocks = noBlocks;
  readonly asked: TerminalAsk;
  readonly #streams: boolean;
  readonly #onPart: (part: AskPart<Json | undefined>) => void;

  /** @param streams whether a text is finished piece by piece, as far as it is final, or whole */
  constructor(asked: TerminalAsk, streams: boolean, onPart: (part: AskPart<Json | undefined>) => void) {
    this.asked = asked;
    this.#streams = streams;
    this.#onPart = onPart;
  }

  /** What may change yet, and is shown all the same. */
  get open(): readonly Block[] {
    const { open, grows } = this.blocks;
    return grows && !this.#streams ? open.slice(0, -1) : open;
  }

  async run(): Promise<AnswerEnd> {
    try {
      for await (const part of this.asked) {
        this.blocks = withPart(this.blocks, part, this.#streams);
        this.#onPart(part);
      }
      const { turn, text } = await this.asked;
      this.blocks = withWhole(this.blocks, text);
      return { turn, thrown: null };
    } catch (thrown) {
      const { turn, text } = thrown instanceof TurnError ? thrown.summary : { turn: null, text: "" };
      this.blocks = withWhole(this.blocks, turn === null ? null : text);
      return { turn, thrown };
    }
  }
}
