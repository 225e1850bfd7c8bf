import { oneLine } from "./printable.ts";

/** A text as a part of one line, with its end left out where it is long. */
export const shortened = (text: string): string => {
  const line = oneLine(text);
  return line.length <= lengthMax ? line : `${line.slice(0, lengthMax - 1)}…`;
};

const lengthMax = 100;
