import type { LlmOutcome } from "@colloquy/host";
import { messageFromReply } from "@colloquy/machine";
import {
  canonicalOf,
  canonicalOfMessage,
  firstDifference,
  type RecordedExchange,
  type RecordedReply,
} from "@colloquy/runtime-test/recordings";
import { isObject, lengthOf } from "./report.ts";

/** Returns how a recorded response was misread, compared with the reply in the recording, or null. */
export const replyDifference = (outcome: LlmOutcome, recorded: RecordedReply | null): string | null => {
  if (recorded === null) return null;
  const reason = recorded.finish_reason ?? null;
  if (outcome.type === "failed") {
    // A reply without a finish reason is incomplete, even if the client kept it.
    return !reason || reason === "error" ? null : `the response was read as a failure: ${outcome.failure.message}`;
  }
  const came = canonicalOfMessage(messageFromReply("reply", "reply", outcome.reply));
  const different = firstDifference([came], [canonicalOf({ ...recorded.message, role: "assistant" })]);
  if (different !== null) return `the response was read otherwise: ${different}`;
  if (outcome.finishReason !== reason) {
    return `the response's finish reason was read as ${JSON.stringify(outcome.finishReason)}, recorded ${JSON.stringify(reason)}`;
  }
  return usageDifference(outcome, recorded);
};

/** Returns why a response cannot be what its server sent, judged by its request and by itself; null if it can. */
export const responseProblem = ({ host, request, response }: RecordedExchange): string | null => {
  const { status, body } = response;
  if (status >= 400 && isObject(body) && !("error" in body))
    return `status ${status} goes with an error, and the body has none`;
  if (isObject(body) && isObject(body["error"]) && lengthOf(body["choices"]) > 0)
    return "the response has an error and choices";
  return modelProblem({ host, request, response });
};

/** Returns how the model that answered is not the one that was asked; null if it is, or if the server's names do not show it. */
export const modelProblem = ({
  host,
  request,
  response: { body, sse },
}: Pick<RecordedExchange, "host" | "request" | "response">): string | null => {
  const asked = request.body["model"];
  const answered = isObject(body) ? body["model"] : /"model": ?"([^"]*)"/.exec(sse ?? "")?.[1];
  // These servers answer with the dated version of the requested model.
  return /(^|\.)api\.(openai\.com|x\.ai)$/.test(host ?? "") &&
    typeof asked === "string" &&
    typeof answered === "string" &&
    !/-(latest|preview)$/.test(asked) &&
    !answered.startsWith(asked)
    ? `the request asks ${asked}, but ${answered} answered`
    : null;
};

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
