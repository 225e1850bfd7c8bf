import type { Key } from "../input/key.ts";
import type { Line } from "../text/line.ts";
import type { Size } from "../text/line.ts";
import type { Shown } from "./shown.ts";

/** A conversation for a screen: its content, and the effects of keys. */
export interface ScreenConversation {
  readonly shown: () => Shown;
  /** Called when the content of `shown` is written to the terminal. */
  readonly drawn: () => void;
  /** Calls the listener whenever the content of `shown` changes. Returns a function that removes the listener. */
  readonly onChange: (listener: () => void) => () => void;
  readonly press: (key: Key, size: Size) => void;
  /** Resolves when the person quits or the signal ends the conversation. */
  readonly ended: Promise<void>;
}

/** The functions of the screen beside drawing. */
export interface ScreenPort {
  /** Gives the terminal to another program (an editor, a shell) while the promise runs, and redraws afterwards. */
  readonly suspend: (run: () => Promise<void> | void) => Promise<void>;
  /** Stops the process as a shell does with Ctrl+Z, and redraws when it continues. */
  readonly stop: () => void;
  /** Writes these lines again, below the conversation. */
  readonly reprint: (lines: readonly Line[]) => void;
  /** Puts a text on the clipboard of the terminal (OSC 52). Returns false if it is longer than terminals accept. */
  readonly copy: (text: string) => boolean;
  readonly bell: () => void;
}
