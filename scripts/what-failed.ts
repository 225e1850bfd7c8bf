// Reports a step of the gate that failed, when only the end of all output is kept.
import { stripVTControlCharacters } from "node:util";

/**
 * Returns the failed tests by vitest's names, each with its first error and the seed to repeat it, and errors outside
 * of tests; else the last lines of a step. They are few and short, since the whole output was printed before.
 */
export const whatFailed = (output: string): readonly string[] => {
  const lines = stripVTControlCharacters(output)
    .split("\n")
    .filter((line) => line.trim() !== "");
  const tests = lines.flatMap((line, index) => (failed.test(line) ? said(lines, index) : []));
  const shown = tests.length === 0 ? lines.slice(-linesMax) : tests.slice(0, linesMax);
  const left = tests.length - shown.length;
  return [...shown.map(cut), ...(left > 0 ? [`… and ${left} more lines`] : [])];
};

const linesMax = 15;
const linesOfMessage = 3;
const widthMax = 240;

/** Matches the name of a failed test, or the title of an error outside of tests, below which vitest names the file. */
const failed = /^\s*FAIL\s|^⎯+ (?:Unhandled Rejection|Uncaught Exception) ⎯+$/;

/**
 * Returns the error below the name of a test with the last lines of its message, which may be what a program printed,
 * its place in the test, and for a property its seed and cause.
 */
const said = (lines: readonly string[], index: number): readonly string[] => {
  const after = lines.slice(index + 1);
  const end = after.findIndex((line) => failed.test(line) || /^⎯+\[\d+\/\d+\]⎯+$/.test(line));
  const [error, ...rest] = end === -1 ? after : after.slice(0, end);
  const places = rest.findIndex((line) => line.startsWith(" ❯ "));
  const more = rest.filter(
    (line, place) =>
      (place < places && place >= places - linesOfMessage && !/^Counterexample: |^Shrunk /.test(line)) ||
      /^\{ seed: |^Caused by: |^ ❯ \S+\.test\.ts:|^This error originated in |^[-+] (?!Expected|Received)/.test(line),
  );
  return [lines[index] ?? "", ...[error ?? [], more].flat().map((line) => `   ${line}`)];
};

const cut = (line: string): string => (line.length > widthMax ? `${line.slice(0, widthMax)}…` : line);
