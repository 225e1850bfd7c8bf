import type { Readable } from "node:stream";
import type { Screen } from "./screen.ts";

/** Where the lines of a conversation come from. */
export interface Lines {
  /** The next line; null when there are no more. */
  next(): Promise<string | null>;
  /** Called at each Ctrl+C that comes while no line is waited for. */
  onInterrupt: (() => void) | null;
  /** Ends it: whoever waits for a line gets null. */
  close(): void;
}

/** What lines are made from. */
export interface LinesSource {
  readonly input: Readable;
  readonly screen: Screen;
  readonly prompt: string;
}
