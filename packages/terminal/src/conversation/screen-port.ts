import type { Key } from "../input/key.ts";
import type { Line } from "../text/line.ts";
import type { Size } from "../text/line.ts";
import type { Shown } from "./shown.ts";

/** A conversation, as a screen has it: what it shows, and what a key does. */
export interface ScreenConversation {
  readonly shown: () => Shown;
  /** Called when what `shown` gives is written to the terminal. */
  readonly drawn: () => void;
  /** The listener is called whenever `shown` gives something else; the result ends that. */
  readonly onChange: (listener: () => void) => () => void;
  readonly press: (key: Key, size: Size) => void;
  /** Resolves when the person quits or the signal ends it. */
  readonly ended: Promise<void>;
}

/** What a conversation has the screen do beside drawing. */
export interface ScreenPort {
  /** Gives the terminal to another program (an editor, a shell) while the promise runs, and draws anew behind it. */
  readonly suspend: (run: () => Promise<void> | void) => Promise<void>;
  /** Stops the process as a shell does with Ctrl+Z, and draws anew when it goes on. */
  readonly stop: () => void;
  /** Writes these once more below what there is. */
  readonly reprint: (lines: readonly Line[]) => void;
  /** Puts a text on the clipboard of the terminal (OSC 52); false: it is longer than terminals take. */
  readonly copy: (text: string) => boolean;
  readonly bell: () => void;
}
