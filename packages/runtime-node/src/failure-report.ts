import { failureReport, type FailureReport } from "@colloquy/host/runtime";
import { secretsOfEnvironment } from "./llm/secrets/secrets.ts";

/**
 * Returns the reason for a thrown value. Removes text that looks like a secret, and the values of environment variables
 * with secret-like names.
 */
export const reasonOf = (thrown: unknown): string => failures.reasonOf(thrown);

/** Reports on the console, redacted like `reasonOf`. */
export const failures: FailureReport = failureReport(secretsOfEnvironment, (text) => console.error(text));
