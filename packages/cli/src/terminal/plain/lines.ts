import type { Readable } from "node:stream";
import { createInterface } from "node:readline";
import type { Printer } from "../text/printer.ts";

/** The source of a conversation's lines. */
export interface Lines {
  /** Returns the next line; null if there are no more. */
  next(): Promise<string | null>;
  /** Returns the next line that a person types from now on; earlier lines are not answers. Null if nobody types. */
  answer(): Promise<string | null>;
  /** Called at each Ctrl+C while no caller waits for a line. */
  onInterrupt: (() => void) | null;
  /** Ends the source: a waiting caller gets null. */
  close(): void;
}

/** The options of a source of lines. */
export interface LinesSource {
  readonly input: Readable;
  readonly printer: Printer;
  readonly prompt: string;
  /** Whether to print each line of a pipe after the prompt, so that the output reads as a conversation. */
  readonly isRepeated: boolean;
}

/** Returns the lines of a pipe or a file, without blank ones. */
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
