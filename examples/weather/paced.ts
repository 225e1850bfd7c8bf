import type { LlmContext, LlmDelta, LlmHandler } from "@colloquy/host";

/** Slows a model: it takes `paceMs` for each piece of its answer. */
export const paced = (model: LlmHandler, paceMs: number): LlmHandler => {
  if (paceMs === 0) return model;
  return async (call, context) => {
    const deltas: LlmDelta[] = [];
    const outcome = await model(call, { ...context, onDelta: (delta) => deltas.push(delta) });
    for (const delta of deltas) {
      await pause(paceMs, context);
      context.onDelta(delta);
    }
    return outcome;
  };
};

/** Waits, and rejects if the call is aborted. */
const pause = (durationMs: number, { clock, signal }: LlmContext): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      cancel();
      reject(new Error("the call was cancelled"));
    };
    const cancel = clock.wakeAt(clock.now() + durationMs, () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
  });
