import {
  AskRefusedError,
  ContextUnfitError,
  LimitReachedError,
  TurnCancelledError,
  TurnFailedError,
} from "@colloquy/host";
import { messageOf } from "@colloquy/host/store";
import type { FailureKind, LimitName, TurnOutcome } from "@colloquy/machine";
import { counted, durationOf, unitsOf } from "./figures.ts";
import { oneLine } from "./printable.ts";

/** Returns a failure in one line, with a remedy if there is one. */
export const failureText = (thrown: unknown): string => oneLine(textOf(thrown));

/** Returns why a turn has no answer, or not the requested one; empty if it completed. */
export const outcomeText = (outcome: TurnOutcome): string => {
  if (outcome.status === "completed") return "";
  if (outcome.status === "cancelled") return outcome.reason === null ? "cancelled" : `cancelled: ${outcome.reason}`;
  if ("failure" in outcome) return `the model call failed (${outcome.failure.kind}): ${outcome.failure.message}`;
  if ("limit" in outcome)
    return `the turn ended at its limit of ${allowedInWords(outcome.limit.limit, outcome.limit.allowed)}`;
  if ("unfit" in outcome) {
    const { tokens, available } = outcome.unfit;
    return `the model's window has room for ${counted(available, "token")}, and this would take ${counted(tokens, "token")}`;
  }
  return `the answer does not have the form that was asked for: ${outcome.output.message}`;
};

const textOf = (thrown: unknown): string => {
  const failed = { status: "failed" } as const;
  if (thrown instanceof TurnFailedError)
    return `${outcomeText({ ...failed, failure: thrown.failure })}${hints[thrown.failure.kind] ?? ""}`;
  if (thrown instanceof LimitReachedError)
    return `${outcomeText({ ...failed, limit: thrown.reached })}; ask again to go on`;
  if (thrown instanceof ContextUnfitError)
    return `${outcomeText({ ...failed, unfit: thrown.unfit })}; ask for less, or /clear to begin anew`;
  if (thrown instanceof TurnCancelledError) return "cancelled";
  return thrown instanceof AskRefusedError ? thrown.refusal.reason : reasonOf(thrown);
};

/** Returns the message of a thrown value, or the value as text, without anything that looks like a secret. */
export const reasonOf = (thrown: unknown): string => messageOf(thrown);

/** Formats a limit in readable units, instead of billionths and thousands of seconds. */
const allowedInWords = (limit: LimitName, allowed: number): string => {
  switch (limit) {
    case "costNano":
      return `${unitsOf(allowed)} (cost)`;
    case "deadlineMs":
      return `${durationOf(allowed)} (time)`;
    default:
      return `${allowed} (${limit})`;
  }
};

const hints: Partial<Record<FailureKind, string>> = {
  auth: " (is OPENAI_API_KEY the right one for this server?)",
  network: " (is OPENAI_BASE_URL right, and does the server run?)",
};
