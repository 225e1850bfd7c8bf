import { messageOf } from "@colloquy/host/store";
import { redact } from "./llm/secrets/redact.ts";

/** Why something was thrown, without what looks like a secret and without the values of environment variables that are named like one. */
export const reasonOf = (thrown: unknown): string => redact(messageOf(thrown), secretsOfEnvironment());

/** Writes what a handler, a hook or an observer threw to the console, redacted like `reasonOf`, with the places in the code. */
export const reportToConsole = (thrown: unknown, where: string): void => {
  const stack = thrown instanceof Error ? (thrown.stack ?? "") : "";
  const places = stack.split("\n").filter((line) => /^\s+at /.test(line));
  console.error([`Colloquy: ${where} failed: ${reasonOf(thrown)}`, ...places].join("\n"));
};

const secretsOfEnvironment = (): readonly string[] =>
  Object.entries(process.env).flatMap(([name, value]) => (isSecret.test(name) && value !== undefined ? [value] : []));

const isSecret = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH/i;
