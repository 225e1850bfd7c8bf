import { messageOf } from "@colloquy/host/store";
import { secretsOfEnvironment } from "./llm/secrets/environment.ts";
import { redact } from "./llm/secrets/redact.ts";

/** Why something was thrown, without what looks like a secret and without the values of environment variables that are named like one. */
export const reasonOf = (thrown: unknown): string => redact(messageOf(thrown), secretsOfEnvironment());

/** Writes what a handler, a hook or an observer threw to the console, with the places in the code, all redacted like `reasonOf`. */
export const reportToConsole = (thrown: unknown, where: string): void => {
  const places = redact(placesOf(thrown), secretsOfEnvironment());
  console.error(`Colloquy: ${where} failed: ${reasonOf(thrown)}${places === "" ? "" : `\n${places}`}`);
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
