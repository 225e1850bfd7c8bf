import type { Readable, Writable } from "node:stream";
import type { Printer } from "@colloquy/cli/terminal";

/** The command's access to its process. */
export interface CommandSetting {
  readonly input: Readable;
  readonly output: Writable;
  readonly error: Writable;
  /** Whether a person types and reads. */
  readonly isTerminal: boolean;
  /** Whether a person types. Default: as `isTerminal`. */
  readonly inputIsTerminal?: boolean;
  /** Whether a person reads. Default: as `isTerminal`. */
  readonly outputIsTerminal?: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder from which to search upwards for a project's settings. Default: no search. */
  readonly folder?: string;
  /**
   * Aborted when the process is asked to end, with the name of the signal as the reason; with `EPIPE` if nobody reads
   * its output any more.
   */
  readonly signal: AbortSignal;
}

/** A command's access to its process. It contains no output streams, so that all output goes through a printer. */
export interface CommandContext extends Required<Omit<CommandSetting, "output" | "error" | "folder">> {
  readonly printer: Printer;
  readonly errors: Printer;
  readonly folder?: string;
}
