// Reports a step of the gate that failed, when only the end of all output is kept.
import { stripVTControlCharacters } from "node:util";

/**
 * The tests that failed, as vitest names them, each with what it threw first and the seed that shows it again, and what
 * was thrown in no test; of a step without such the last lines. Few and short: all of the output was shown before.
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
const widthMax = 240;

/** A test by its name, or what was thrown in none: vitest says in which file under it. */
const failed = /^\s*FAIL\s|^⎯+ (?:Unhandled Rejection|Uncaught Exception) ⎯+$/;

/** Below the name of a test stands its error; further down what differed, and of a property its seed and its cause. */
const said = (lines: readonly string[], index: number): readonly string[] => {
  const after = lines.slice(index + 1);
  const end = after.findIndex((line) => failed.test(line) || /^⎯+\[\d+\/\d+\]⎯+$/.test(line));
  const [error, ...rest] = end === -1 ? after : after.slice(0, end);
  const more = rest.filter((line) =>
    /^\{ seed: |^Caused by: |^This error originated in |^[-+] (?!Expected|Received)/.test(line),
  );
  return [lines[index] ?? "", ...[error ?? [], more].flat().map((line) => `   ${line}`)];
};

const cut = (line: string): string => (line.length > widthMax ? `${line.slice(0, widthMax)}…` : line);
