import type { Key } from "../input/key.ts";
import type { Line, Size } from "../text/line.ts";
import type { InputFrame } from "../input/layout.ts";
import type { View } from "../views/view.ts";
import type { Theme } from "../text/theme.ts";

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

export type { InputFrame };

/** The content of the screen at one moment. The screen knows nothing else of a conversation. */
export interface Shown {
  /** Only appended to: each is written once, in order, into the scrollback. */
  readonly finished: readonly FinishedLines[];
  /** Redrawn above the input; only its end if it is too high. */
  readonly open: (size: Size) => readonly Line[];
  /** The laid out input with its cursor, and the offered completions. */
  readonly input: (size: Size) => InputFrame;
  /** One row above the input, cut to the width. */
  readonly status: (size: Size) => Line;
  /** The view on the alternate screen, in place of all this. */
  readonly view: View | null;
}

/**
 * A finished block: laid out when it is written, for the present size. A paragraph is one line, which the terminal
 * itself wraps.
 */
export interface FinishedLines {
  readonly id: number;
  readonly lines: (columns: number, rows: number) => readonly Line[];
}

export interface ScreenOptions {
  readonly conversation: (port: ScreenPort) => ScreenConversation;
  readonly input: TerminalInput;
  readonly output: TerminalOutput;
  readonly theme: Theme;
}

/** A keyboard; a real terminal has a raw mode. */
export interface TerminalInput extends NodeJS.ReadableStream {
  setRawMode?: (isRaw: boolean) => unknown;
}

/** A terminal to write to; its size may change. */
export interface TerminalOutput extends NodeJS.WritableStream {
  readonly columns?: number;
  readonly rows?: number;
}
