import { messageOf } from "../boundary/thrown.ts";
import { redact } from "./redact.ts";

/** Says why something was thrown, and where, without secrets. */
export interface FailureReport {
  /** Why it was thrown, without what looks like a secret and without the given ones. */
  readonly reasonOf: (thrown: unknown) => string;
  /** Writes what a handler, a hook or an observer threw, with the places in the code, all redacted like `reasonOf`. */
  readonly report: (thrown: unknown, where: string) => void;
}

/**
 * Makes what reports failures without secrets.
 *
 * @param secrets what is taken out besides all that looks like a secret; looked up at each report
 * @param write gets what is reported, in one text
 */
export const failureReport = (secrets: () => readonly string[], write: (text: string) => void): FailureReport => {
  const reasonOf = (thrown: unknown): string => redact(messageOf(thrown), secrets());
  return {
    reasonOf,
    report: (thrown, where) => {
      const places = redact(placesOf(thrown), secrets());
      write(`Colloquy: ${where} failed: ${reasonOf(thrown)}${places === "" ? "" : `\n${places}`}`);
    },
  };
};

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
