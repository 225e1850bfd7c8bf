import type { TurnOutcome } from "@colloquy/machine";

/** Why a turn has no answer, or not the one that was asked for; empty where it was completed. */
export const failureWords = (outcome: TurnOutcome): string => {
  if (outcome.status === "completed") return "";
  if (outcome.status === "cancelled") return outcome.reason === null ? "cancelled" : `cancelled: ${outcome.reason}`;
  if ("failure" in outcome) return `failed (${outcome.failure.kind}): ${outcome.failure.message}`;
  if ("limit" in outcome) return `ended at its limit of ${outcome.limit.allowed} (${outcome.limit.limit})`;
  if ("unfit" in outcome)
    return `its prompt took ${outcome.unfit.tokens} tokens, with room for ${outcome.unfit.available}`;
  return "its answer did not have the form that was asked for";
};
