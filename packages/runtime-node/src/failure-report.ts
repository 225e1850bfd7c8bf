import { failureReport, type FailureReport } from "@colloquy/host/runtime";
import { secretsOfEnvironment } from "./llm/secrets/environment.ts";

/** Why something was thrown, without what looks like a secret and without the values of environment variables that are named like one. */
export const reasonOf = (thrown: unknown): string => failures.reasonOf(thrown);

/** Reports on the console, redacted like `reasonOf`. */
export const failures: FailureReport = failureReport(secretsOfEnvironment, (text) => console.error(text));
