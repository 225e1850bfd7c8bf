import type { LlmOutcome } from "@colloquy/host";
import { type KeyFilter, redact } from "@colloquy/host/runtime";

/** An outcome without keys: whatever a provider sends may hold the one that it was sent. */
export const filteredOutcome = (
  outcome: LlmOutcome,
  filter: KeyFilter,
  secrets: readonly string[] | undefined,
): LlmOutcome => {
  const filtered = filter.json(outcome);
  return filtered.type === "failed" || filtered.finishReason === null
    ? filtered
    : { ...filtered, finishReason: redact(filtered.finishReason, secrets) };
};
