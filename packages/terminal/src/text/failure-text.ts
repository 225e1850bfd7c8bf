import {
  AskRefusedError,
  ContextUnfitError,
  LimitReachedError,
  TurnCancelledError,
  TurnFailedError,
} from "@colloquy/host";
import type { FailureKind, LimitName } from "@colloquy/machine";
import { counted, durationOf, unitsOf } from "./figures.ts";
import { oneLine } from "./printable.ts";

/** What went wrong, in one line, with the way out where there is one. */
export const failureText = (thrown: unknown): string => oneLine(textOf(thrown));

const textOf = (thrown: unknown): string => {
  if (thrown instanceof TurnFailedError) {
    const { kind, message } = thrown.failure;
    return `the model call failed (${kind}): ${message}${hints[kind] ?? ""}`;
  }
  if (thrown instanceof LimitReachedError) {
    const { limit, allowed } = thrown.reached;
    return `the turn ended at its limit of ${allowedInWords(limit, allowed)}; ask again to go on`;
  }
  if (thrown instanceof ContextUnfitError) {
    const { tokens, available } = thrown.unfit;
    return `the model's window has room for ${counted(available, "token")}, and this would take ${counted(tokens, "token")}; ask for less, or /clear to begin anew`;
  }
  if (thrown instanceof TurnCancelledError) return "cancelled";
  if (thrown instanceof AskRefusedError) return thrown.refusal.reason;
  return reasonOf(thrown);
};

/** The message of a thrown value; of one that is no error, its text. */
export const reasonOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Nobody reads billionths, nor thousands of seconds. */
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
