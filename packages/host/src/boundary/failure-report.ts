import { redact } from "../secrets/redact.ts";
import { messageOf } from "./thrown.ts";

/** Says why something was thrown, and where, without secrets. */
export interface FailureReport {
  /** Returns the secrets that are removed besides everything that looks like one. */
  readonly secrets: () => readonly string[];
  /** Returns why it was thrown, without what looks like a secret and without `secrets`. */
  readonly reasonOf: (thrown: unknown) => string;
  /**
   * Writes an error of a handler, a hook or an observer, with its places in the code. All is redacted like `reasonOf`
   * and without `keys`.
   */
  readonly report: (thrown: unknown, where: string, keys?: readonly string[]) => void;
}

/**
 * Makes a report of failures without secrets.
 *
 * @param secrets removed besides everything that looks like a secret; looked up at each report
 * @param write is called with each report, as one text
 */
export const failureReport = (secrets: () => readonly string[], write: (text: string) => void): FailureReport => ({
  secrets,
  reasonOf: (thrown) => messageOf(thrown, secrets()),
  report: (thrown, where, keys = []) => {
    const all = [...secrets(), ...keys];
    const places = redact(placesOf(thrown), all);
    write(`Colloquy: ${where} failed: ${messageOf(thrown, all)}${places === "" ? "" : `\n${places}`}`);
  },
});

/**
 * Returns the stack lines of an error. Lines of its message may look like places too. Reading the stack may throw,
 * since the value may be anything.
 */
const placesOf = (thrown: unknown): string => {
  try {
    const stack: unknown = thrown instanceof Error ? thrown.stack : undefined;
    const lines = typeof stack === "string" ? stack.split("\n") : [];
    return lines.filter((line) => /^\s+at /.test(line)).join("\n");
  } catch {
    return "";
  }
};
