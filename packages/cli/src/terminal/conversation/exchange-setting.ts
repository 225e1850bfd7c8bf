import type { Block } from "../blocks/block.ts";
import type { TerminalConversationOptions } from "./options.ts";

/** The setting of an exchange. */
export interface ExchangeSetting extends Pick<
  TerminalConversationOptions,
  "host" | "ask" | "steers" | "notes" | "name" | "detail" | "streams"
> {
  /** Shows a block after the finished ones. */
  readonly show: (block: Block) => void;
  /** Returns a text without effect to the person who typed it. */
  readonly giveBack: (text: string) => void;
  readonly changed: () => void;
  /** Called when the queue is empty. */
  readonly done: (isBehindAnswer: boolean) => void;
}
