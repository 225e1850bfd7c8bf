import { redact } from "../secrets/redact.ts";
import { messageOf } from "./thrown.ts";

/** Says why something was thrown, and where, without secrets. */
export interface FailureReport {
  /** The secrets that are taken out beside all that looks like one. */
  readonly secrets: () => readonly string[];
  /** Returns why it was thrown, without what looks like a secret and without `secrets`. */
  readonly reasonOf: (thrown: unknown) => string;
  /** Writes what a handler, a hook or an observer threw, with the places in the code, all redacted like `reasonOf` and without `keys`. */
  readonly report: (thrown: unknown, where: string, keys?: readonly string[]) => void;
}

/**
 * Makes what reports failures without secrets.
 *
 * @param secrets what is taken out besides all that looks like a secret; looked up at each report
 * @param write gets what is reported, in one text
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

/** Lines of the message may look like places, too. What is thrown may be anything: even reading its stack may throw. */
const placesOf = (thrown: unknown): string => {
  try {
    const stack: unknown = thrown instanceof Error ? thrown.stack : undefined;
    const lines = typeof stack === "string" ? stack.split("\n") : [];
    return lines.filter((line) => /^\s+at /.test(line)).join("\n");
  } catch {
    return "";
  }
};
