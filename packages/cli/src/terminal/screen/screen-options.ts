import type { ScreenConversation, ScreenPort } from "../conversation/screen-port.ts";
import type { Theme } from "../text/theme.ts";

/** The options of a screen. */
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
