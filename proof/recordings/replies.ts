import type { LlmOutcome } from "@colloquy/host";
import { messageFromReply } from "@colloquy/machine";
import {
  canonicalOf,
  canonicalOfMessage,
  type ExchangeResponse,
  firstDifference,
  type RecordedReply,
} from "@colloquy/runtime-test/recordings";

/** What is wrong with how a recorded response was read, compared with the reply that the recording has; null for nothing. */
export const replyDifference = (
  outcome: LlmOutcome,
  recorded: RecordedReply | null,
  response: ExchangeResponse,
): string | null => {
  if (recorded === null) return null;
  const reason = recorded.finish_reason ?? null;
  if (outcome.type === "failed") {
    // A reply without a reason for its end, or with an error in it, is no whole one, whatever the client made of it.
    return !reason || carriesError(response) ? null : `the response was read as a failure: ${outcome.failure.message}`;
  }
  const came = canonicalOfMessage(messageFromReply("reply", "reply", outcome.reply));
  const different = firstDifference([came], [canonicalOf({ ...recorded.message, role: "assistant" })]);
  if (different !== null) return `the response was read otherwise: ${different}`;
  if (outcome.finishReason !== reason) {
    return `the response's finish reason was read as ${JSON.stringify(outcome.finishReason)}, recorded ${JSON.stringify(reason)}`;
  }
  return usageDifference(outcome, recorded);
};

const carriesError = ({ body, sse }: ExchangeResponse): boolean =>
  /"error"\s*:\s*[{"]/.test(sse ?? JSON.stringify(body ?? null));

const usageDifference = (
  outcome: Extract<LlmOutcome, { type: "completed" }>,
  { usage }: RecordedReply,
): string | null => {
  for (const [field, name] of fields) {
    const recorded = usage?.[name];
    const came = outcome.usage?.[field];
    if (typeof recorded === "number" && came !== recorded)
      return `the response's ${name} were read as ${came}, recorded ${recorded}`;
  }
  return null;
};

const fields = [
  ["inputTokens", "prompt_tokens"],
  ["outputTokens", "completion_tokens"],
  ["totalTokens", "total_tokens"],
] as const;
