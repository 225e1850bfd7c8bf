import type { LlmOutcome } from "@colloquy/host";
import type { CallLlm, FailureKind } from "@colloquy/machine";
import type { RecordedError } from "@colloquy/runtime-test/recordings";
import { play } from "./playback.ts";
import { count, type Finding, type Report } from "./report.ts";

/** Gets each recorded error as the answer to a model call, and looks at what kind of failure it becomes. */
export const reportOfErrors = async (file: string, errors: readonly RecordedError[]): Promise<Report> => {
  const outcomes = await play(errors.map(({ response }) => ({ call: anyCall, response })));
  const failures: Finding[] = [];
  const seen = new Map<string, number>();
  for (const [index, { id, response }] of errors.entries()) {
    const outcome = outcomes[index]?.outcome;
    const words = outcome === undefined ? "nothing came" : misjudged(response.status, outcome);
    if (words !== null) failures.push({ id, words });
    const line = `${response.status} ${outcome?.type === "failed" ? inWords(outcome) : "was taken for an answer"}`;
    seen.set(line, (seen.get(line) ?? 0) + 1);
  }
  return {
    title: file,
    lines: [...seen].map(([line, times]) => `${line}: ${count(times)}`).toSorted(),
    passed: errors.length - failures.length,
    failures,
    inexpressible: [],
  };
};

type Failed = Extract<LlmOutcome, { type: "failed" }>;

const inWords = ({ failure: { kind, retryable } }: Failed): string =>
  `${kind}, ${retryable ? "retryable" : "not retryable"}`;

/** What is wrong with how an error was judged, by what its status alone says. */
const misjudged = (status: number, outcome: LlmOutcome): string | null => {
  if (outcome.type === "completed") return `status ${status} was taken for an answer`;
  const { kind, message, retryable } = outcome.failure;
  if (message.trim() === "") return "the failure has no message";
  const kinds = kindsOf(status);
  if (kinds !== null && !kinds.includes(kind))
    return `status ${status} became ${kind}, expected one of ${kinds.join(", ")}: ${message}`;
  const hopeless = status >= 400 && status < 500 && ![408, 409, 425, 429, 498].includes(status);
  return hopeless && retryable ? `status ${status} is not worth a retry: ${message}` : null;
};

/** Null where the status says nothing: a success that carries an error may be any. */
const kindsOf = (status: number): readonly FailureKind[] | null => {
  if (status === 401 || status === 403) return ["auth", "content_filter", "rate_limit"];
  if (status === 429) return ["rate_limit", "overloaded"];
  if (status >= 500)
    return ["unknown", "overloaded", "timeout", "network", "rate_limit", "context_length", "content_filter"];
  return status >= 400
    ? ["bad_request", "context_length", "content_filter", "rate_limit", "overloaded", "timeout"]
    : null;
};

const anyCall: CallLlm = {
  type: "callLlm",
  id: "errors/1.1#1",
  threadId: "errors",
  turn: 1,
  step: 1,
  attempt: 1,
  purpose: "answer",
  messages: [],
  promptDigest: "",
  model: { model: "any" },
};
