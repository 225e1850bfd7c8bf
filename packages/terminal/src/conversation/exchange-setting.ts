import type { Block } from "../blocks/block.ts";
import type { TerminalConversationOptions } from "./options.ts";

/** What an exchange is had with. */
export interface ExchangeSetting extends Pick<
  TerminalConversationOptions,
  "host" | "ask" | "steers" | "notes" | "name" | "detail" | "streams"
> {
  /** Shows a block below those that are finished. */
  readonly show: (block: Block) => void;
  /** A text that nothing became of goes back to whoever typed it. */
  readonly giveBack: (text: string) => void;
  readonly changed: () => void;
  /** Nothing waits to be asked. */
  readonly done: (isBehindAnswer: boolean) => void;
}
