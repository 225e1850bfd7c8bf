import type { Readable, Writable } from "node:stream";
import type { Printer } from "@colloquy/terminal";

/** What the command has of its process. */
export interface CommandSetting {
  readonly input: Readable;
  readonly output: Writable;
  readonly error: Writable;
  /** Whether a person types and reads. */
  readonly isTerminal: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted when the process is asked to end. */
  readonly signal: AbortSignal;
}

/** What each command has of its process. It has no streams to write to: what it prints goes through a printer. */
export interface CommandContext extends Omit<CommandSetting, "output" | "error"> {
  readonly printer: Printer;
  /** The error output. */
  readonly errors: Printer;
}
