import { limitCalls, type LlmContext, type LlmDelta, type LlmHandler, type LlmOutcome } from "@colloquy/host";
import type { CallLlm } from "@colloquy/machine";
import { type ManualClock, manualClock } from "../stage.ts";

/** A refusal of a server that is called too often. */
export const refusal = (more: object = {}): Extract<LlmOutcome, { type: "failed" }> => ({
  type: "failed",
  failure: { kind: "rate_limit", message: "too many", retryable: true, ...more },
});

// A limiter only reads the thread of a call. The rest is for the handler.
export const callOf = (threadId: string, id = threadId): CallLlm => ({ id, threadId }) as unknown as CallLlm;

/** Makes a handler whose calls wait until the test answers them, and calls through a limiter. */
export const line = (limits: Parameters<typeof limitCalls>[1], clock: ManualClock = manualClock()) => {
  const made: { readonly id: string; readonly answer: (outcome: LlmOutcome) => void; readonly context: LlmContext }[] =
    [];
  const handler: LlmHandler = (call, context) => {
    const { promise, resolve } = Promise.withResolvers<LlmOutcome>();
    made.push({ id: call.id, answer: resolve, context });
    return promise;
  };
  const limited = limitCalls(handler, limits);
  const outcomes: (readonly [id: string, outcome: LlmOutcome])[] = [];
  const waits: unknown[] = [];
  const shown: LlmDelta[] = [];
  const call = (threadId: string, id = threadId): AbortController => {
    const controller = new AbortController();
    const context = {
      signal: controller.signal,
      clock,
      tools: [],
      onDelta: (delta: LlmDelta) => void shown.push(delta),
      onWait: (until: unknown) => waits.push([id, until]),
    };
    void limited(callOf(threadId, id), context).then((outcome) => outcomes.push([id, outcome]));
    return controller;
  };
  return { clock, made, call, outcomes, waits, shown, ids: () => made.map(({ id }) => id) };
};
