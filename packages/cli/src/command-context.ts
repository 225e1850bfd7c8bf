import type { Readable } from "node:stream";
import type { Screen } from "./terminal/screen.ts";

/** What a command has of its process. It has no streams to write to: what it prints goes through a screen. */
export interface CommandContext {
  readonly input: Readable;
  readonly screen: Screen;
  /** The error output. */
  readonly errors: Screen;
  /** Whether somebody types and reads. */
  readonly isTerminal: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted when the process is asked to end. */
  readonly signal: AbortSignal;
}
