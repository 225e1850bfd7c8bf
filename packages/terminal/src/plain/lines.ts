import type { Readable } from "node:stream";
import { createInterface } from "node:readline";
import type { Printer } from "../text/printer.ts";

/** Where the lines of a conversation come from. */
export interface Lines {
  /** The next line; null when there are no more. */
  next(): Promise<string | null>;
  /** The next line that a person types from here on: what was typed before is no answer to it; null when nobody does. */
  answer(): Promise<string | null>;
  /** Called at each Ctrl+C that comes while no line is waited for. */
  onInterrupt: (() => void) | null;
  /** Ends it: a caller that waits for a line gets null. */
  close(): void;
}

/** What lines are made from. */
export interface LinesSource {
  readonly input: Readable;
  readonly printer: Printer;
  readonly prompt: string;
  /** Whether a line of a pipe is printed behind the prompt, so that what is written reads as a conversation. */
  readonly isRepeated: boolean;
}

/**
 * The lines of a pipe or a file, without the blank ones.
 */
export const pipedLines = ({ input, printer, prompt, isRepeated }: LinesSource): Lines => {
  const reader = createInterface({ input, terminal: false, crlfDelay: Infinity });
  const read = reader[Symbol.asyncIterator]();
  let closed = false;
  return {
    next: async () => {
      for (let line = await read.next(); line.done !== true && !closed; line = await read.next()) {
        if (line.value.trim() === "") continue;
        if (isRepeated) printer.line(`${prompt}${line.value}`);
        return line.value;
      }
      return null;
    },
    answer: () => Promise.resolve(null),
    onInterrupt: null,
    close: () => {
      closed = true;
      reader.close();
    },
  };
};
