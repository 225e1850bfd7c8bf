import type { CallLlm } from "@colloquy/machine";
import { kinds, type OptionKinds, problemOfOptions } from "../boundary/option-kinds.ts";
import type { LlmContext, LlmHandler, LlmOutcome } from "../ports/llm.ts";
import { CallLine, type WaitingCall, Pauses } from "./call-line.ts";

/** The limits on calls of a model. */
export interface CallLimits {
  /** The largest number of calls at once, over all threads of all hosts that share the handler. 1 or more. */
  readonly atOnce: number;
  /**
   * For how long a refused call is made again, in milliseconds. After that its last refusal is its failure. Default:
   * 600,000.
   */
  readonly patienceMs?: number;
}

/**
 * Returns a handler that limits how many calls are made at once, and pauses all of them when one is refused. The pause
 * is as long as the server asks, or else longer with each refusal in a row.
 *
 * A refused call is one that failed with `rate_limit` or `overloaded`, retryable, before any of its reply arrived. It
 * is made again here, ahead of calls that were not made yet. So it uses none of the machine's attempts, is not an entry
 * of the journal, and costs nothing. Threads take turns, and the calls of one thread are made in order. A call that is
 * no longer wanted leaves the queue at once. A call that waits says so (`context.onWait`). Idle timers run only while a
 * call is made. Share the returned handler: each one has its own queue.
 *
 * @throws RangeError for invalid limits.
 */
export const limitCalls = (handler: LlmHandler, limits: CallLimits): LlmHandler => {
  const problem = problemOfOptions("limitCalls", limits, limitKinds);
  if (problem !== null) throw new RangeError(problem);
  const { atOnce, patienceMs = 600_000 } = limits;
  const pauses = new Pauses(atOnce);
  const line = new CallLine(pauses);
  const limited: LlmHandler = async (call, context) => {
    const { clock, signal } = context;
    const onWait: WaitingCall["onWait"] = (until) => context.onWait?.(until);
    let refusedSince: number | null = null;
    for (;;) {
      const isAgain = refusedSince !== null;
      if (!(await line.enter({ threadId: call.threadId, clock, signal, isAgain, onWait }))) return leftTheLine;
      const madeAt = clock.now();
      const { outcome, hasCome } = await made(handler, call, context, line);
      if (hasCome || !isRefusal(outcome)) {
        if (outcome.type === "completed") pauses.accepted();
        line.advance();
        return outcome;
      }
      const now = clock.now();
      refusedSince ??= madeAt;
      const left = refusedSince + patienceMs - now;
      const asked = outcome.failure.retryAfterMs ?? 0;
      pauses.refused(madeAt, now, asked > left ? 0 : asked);
      line.advance();
      if (asked > left || left <= 0) return givenUp(outcome);
    }
  };
  return Object.assign(limited, { secrets: () => handler.secrets?.() ?? [], check: () => handler.check?.() });
};

const limitKinds: OptionKinds<CallLimits> = { atOnce: kinds.needed(kinds.whole(1)), patienceMs: kinds.whole(0) };

/** Makes one call. Its place is freed at its end, or when its caller stops it. */
const made = async (
  handler: LlmHandler,
  call: CallLlm,
  context: LlmContext,
  line: CallLine,
): Promise<{ readonly outcome: LlmOutcome; readonly hasCome: boolean }> => {
  const { signal } = context;
  // Aborted between its turn and now: if many calls are ended at once, the place of one passes to the next that is
  // ended.
  if (signal.aborted) {
    line.leave();
    return { outcome: leftTheLine, hasCome: false };
  }
  let hasCome = false;
  let isIn = true;
  const leave = (): void => {
    if (isIn) line.leave();
    isIn = false;
  };
  const leaveAtOnce = (): void => {
    leave();
    line.advance();
  };
  signal.addEventListener("abort", leaveAtOnce);
  try {
    const onDelta: LlmContext["onDelta"] = (delta) => {
      hasCome = true;
      context.onDelta(delta);
    };
    const outcome = await handler(call, { ...context, onDelta });
    leave();
    return { outcome, hasCome };
  } catch (thrown) {
    leaveAtOnce();
    throw thrown;
  } finally {
    signal.removeEventListener("abort", leaveAtOnce);
  }
};

type Failed = Extract<LlmOutcome, { type: "failed" }>;

const isRefusal = (outcome: LlmOutcome): outcome is Failed =>
  outcome.type === "failed" &&
  outcome.failure.retryable &&
  (outcome.failure.kind === "rate_limit" || outcome.failure.kind === "overloaded") &&
  outcome.partial === undefined &&
  outcome.usage === undefined;

const givenUp = (outcome: Failed): Failed => ({
  ...outcome,
  failure: {
    ...outcome.failure,
    retryable: false,
    message: `${outcome.failure.message} (refused for as long as limitCalls is patient)`,
  },
});

/** Never read by a caller. */
const leftTheLine: LlmOutcome = {
  type: "failed",
  failure: { kind: "unknown", message: "the call was cancelled before it was made", retryable: false },
};
