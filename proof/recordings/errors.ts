import type { LlmOutcome } from "@colloquy/host";
import type { CallLlm } from "@colloquy/machine";
import type { RecordedError } from "@colloquy/runtime-test/recordings";
import { type ErrorReading, readError } from "./error-oracle.ts";
import type { Verdict } from "./error-words.ts";
import { play } from "./playback.ts";
import { count, type Finding, type Report } from "./report.ts";

/**
 * Sends each recorded error as the answer to a model call, and compares the resulting failure with the error's meaning
 * by its source's rules. A response whose parts contradict each other is a failure too, since it cannot be the
 * original.
 */
export const reportOfErrors = async (file: string, errors: readonly RecordedError[]): Promise<Report> => {
  const outcomes = await play(errors.map(({ response }) => ({ call: anyCall, response })));
  const failures: Finding[] = [];
  const seen = new Map<string, number>();
  const rests = new Map<string, number>();
  for (const [index, error] of errors.entries()) {
    const outcome = outcomes[index]?.outcome;
    const judged = readError(error);
    const words =
      judged.contradiction ??
      (outcome === undefined ? "nothing came" : differenceOf(outcome, judged, error.response.status));
    if (words !== null) failures.push({ id: error.id, words });
    increment(
      seen,
      `${error.response.status} ${outcome?.type === "failed" ? inWords(outcome.failure) : "was read as an answer"}`,
    );
    increment(rests, `its ${judged.by}`);
  }
  const by = [...rests].map(([rest, times]) => `by ${rest}: ${count(times)}`).toSorted();
  return {
    title: file,
    lines: [...[...seen].map(([line, times]) => `${line}: ${count(times)}`).toSorted(), `expected ${by.join(", ")}`],
    passed: errors.length - failures.length,
    failures,
    inexpressible: [],
  };
};

const differenceOf = (outcome: LlmOutcome, { verdicts, wait }: ErrorReading, status: number): string | null => {
  if (outcome.type === "completed") return `status ${status} was read as an answer`;
  const { failure } = outcome;
  if (failure.message.trim() === "") return "the failure has no message";
  if (status >= 400 && failure.status !== status) return `status ${status} became ${failure.status ?? "none"}`;
  if (
    verdicts !== null &&
    !verdicts.some(({ kind, retryable }) => kind === failure.kind && retryable === failure.retryable)
  )
    return `status ${status} became ${inWords(failure)}, expected ${verdicts.map(inWords).join(", or ")}: ${failure.message}`;
  const waits = failure.retryAfterMs;
  if (wait === "until" ? waits === undefined : (waits ?? null) !== wait)
    return `the server asks to wait ${wait === null ? "for nothing" : wait === "until" ? "until a date" : `${wait} ms`}, but the failure has ${waits ?? "no"} ms`;
  return null;
};

const inWords = ({ kind, retryable }: Verdict): string => `${kind}, ${retryable ? "retryable" : "not retryable"}`;

const increment = (counts: Map<string, number>, key: string): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
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
