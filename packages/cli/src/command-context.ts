import type { Readable, Writable } from "node:stream";
import type { Screen } from "./terminal/screen.ts";

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

/** What each command has of its process. It has no streams to write to: what it prints goes through a screen. */
export interface CommandContext extends Omit<CommandSetting, "output" | "error"> {
  readonly screen: Screen;
  /** The error output. */
  readonly errors: Screen;
}

/** Aborted when the process is asked to end, or when the reader of its output is gone. Only the first signal aborts it: a second one ends the process. */
export const endingOf = (running: NodeJS.Process): AbortSignal => {
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) running.once(signal, () => ending.abort());
  running.stdout.on("error", () => ending.abort());
  return ending.signal;
};
