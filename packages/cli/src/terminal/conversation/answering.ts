import { type AskHandle, type AskPart, TurnError } from "@colloquy/host";
import type { Json } from "@colloquy/machine";
import { type AnswerBlocks, noBlocks, withPart, withWhole } from "./answer-blocks.ts";
import type { Block } from "../blocks/block.ts";

/** An ask with a displayed answer: for a text, or for a checked output. */
export type TerminalAsk = AskHandle | AskHandle<Json>;

export interface AnswerEnd {
  /** Null if no turn was opened. */
  readonly turn: number | null;
  readonly thrown: unknown;
}

/** Follows an ask to its end. Calls `onPart` after each part, when `blocks` contains it. Never rejects. */
export class Answering {
  blocks: AnswerBlocks = noBlocks;
  readonly asked: TerminalAsk;
  readonly #streams: boolean;
  readonly #onPart: (part: AskPart<Json | undefined>) => void;

  /** @param streams whether a text is finished piece by piece as it becomes final, or only as a whole */
  constructor(asked: TerminalAsk, streams: boolean, onPart: (part: AskPart<Json | undefined>) => void) {
    this.asked = asked;
    this.#streams = streams;
    this.#onPart = onPart;
  }

  /** Returns the blocks that are shown, but may still change. */
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
