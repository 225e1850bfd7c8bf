import type { Readable, Writable } from "node:stream";
import type { Printer } from "@colloquy/terminal";

/** What the command has of its process. */
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
  /** Where settings of a project are looked for, upward. Default: nowhere. */
  readonly folder?: string;
  /** Aborted when the process is asked to end, with the name of the signal; or with `EPIPE`, when nobody reads its output any more. */
  readonly signal: AbortSignal;
}

/** What each command has of its process. It has no streams to write to: what it prints goes through a printer. */
export interface CommandContext extends Required<Omit<CommandSetting, "output" | "error" | "folder">> {
  readonly printer: Printer;
  /** The error output. */
  readonly errors: Printer;
  readonly folder?: string;
}
