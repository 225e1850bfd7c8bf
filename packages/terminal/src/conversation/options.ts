import type { Host } from "@colloquy/host";
import type { Choice } from "../commands/command.ts";
import type { HistoryPort } from "../input/history.ts";
import type { Keymap } from "../input/keymap.ts";
import type { TerminalAsk } from "./answering.ts";
import type { ScreenPort } from "./screen-port.ts";

/** What a conversation on a screen is made from. */
export interface TerminalConversationOptions {
  /** Stays open afterwards. */
  readonly host: Host;
  /** The thread that is continued, or begun. */
  readonly threadId: string;
  readonly port: ScreenPort;
  /** How a text is asked on the thread of an id. Default: as it is. */
  readonly ask?: (text: string, threadId: string) => TerminalAsk;
  /** Whether texts may be sent into a turn that is open. Default true. */
  readonly steers?: boolean;
  /** Lines that are shown behind the figures of a turn. Default: none. */
  readonly notes?: (threadId: string, turn: number) => Promise<readonly string[]>;
  /** What a new thread is called. Default: an id that the host draws. */
  readonly newThreadId?: () => string | Promise<string>;
  /** Default: the standard one. */
  readonly keymap?: Keymap;
  /** Where what was typed is kept for later conversations. Default: nowhere. */
  readonly history?: HistoryPort;
  /** The agent that the status line names, with a label before each figure, as the seed has it. Default: no labels. */
  readonly agentLabel?: string;
  /** Who answers. Default `Agent`. */
  readonly name?: string;
  /** Has a text edited by another program, while the terminal is that program's; null where it was not. */
  readonly editText?: (text: string) => Promise<string | null>;
  readonly models?: Choice;
  readonly themes?: Choice;
  /** Whether the end of an answer is heard. Default false. */
  readonly bell?: boolean;
  /** Asked at the beginning. */
  readonly question?: string;
  /** What is shown beside answers: errors alone, what happens in short, or whole. Default `some`. */
  readonly detail?: "none" | "some" | "all";
  /** Whether answers are shown as they come. Default true. */
  readonly streams?: boolean;
  /** Called at the beginning with what shows a text of others, such as the prompt that is sent. */
  readonly notices?: (show: (text: string) => void) => void;
  /** Milliseconds of a clock that only goes on: a key at an approval counts behind a pause. Default: that of the process. */
  readonly now?: () => number;
  /** Ends it: the open turn is cancelled. */
  readonly signal?: AbortSignal;
}
