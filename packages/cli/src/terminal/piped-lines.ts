import { createInterface } from "node:readline";
import type { Lines, LinesSource } from "./lines.ts";

/**
 * The lines of a pipe or a file, without the blank ones. Each is repeated behind the prompt, so that what is
 * written reads as a conversation.
 */
export const pipedLines = ({ input, screen, prompt }: LinesSource): Lines => {
  const reader = createInterface({ input, terminal: false, crlfDelay: Infinity });
  const read = reader[Symbol.asyncIterator]();
  let closed = false;
  return {
    next: async () => {
      for (let line = await read.next(); line.done !== true && !closed; line = await read.next()) {
        if (line.value.trim() === "") continue;
        screen.line(`${prompt}${line.value}`);
        return line.value;
      }
      return null;
    },
    onInterrupt: null,
    close: () => {
      closed = true;
      reader.close();
    },
  };
};
