import type { LlmContext, LlmDelta, LlmOutcome } from "@colloquy/host";
import { type KeyFilter, keyFilter, redact } from "@colloquy/host/runtime";
import type { CallLlm, Failure } from "@colloquy/machine";
import { idleFailure } from "../failure/failure.ts";
import { filteredDeltas } from "../secrets/filtered-deltas.ts";
import type { Waits } from "./waits.ts";

/** A call while it runs: it ends with its signal or after a silence, and nothing that leaves it holds a key. */
export interface RunningCall {
  readonly signal: AbortSignal;
  readonly abort: () => void;
  readonly onDelta: (delta: LlmDelta) => void;
  /** The answer has begun: from now on the handler's own limit bounds the silence, if the call has none. */
  readonly begin: () => void;
  /** There was a sign of life. A finished answer has `endMs` from then on to end, unless another choice of it begins. */
  readonly touch: (state?: { readonly finished: boolean }) => void;
  /** The failure of a silence that was too long; null if none was. */
  readonly silence: () => Failure | null;
  /** Shows what was held back, and returns the outcome without keys and without these secrets. */
  readonly filtered: (outcome: LlmOutcome, secrets: readonly string[] | undefined) => LlmOutcome;
  readonly close: () => void;
}

/** @param keys Looked up when something has come: a client may fetch its key when it makes the request. */
export const runningCall = (
  call: CallLlm,
  { signal, clock, onDelta }: LlmContext,
  waits: Waits,
  keys: () => readonly string[],
): RunningCall => {
  const control = new AbortController();
  const abort = (): void => control.abort();
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  let found: KeyFilter | undefined;
  const filter = (): KeyFilter => (found ??= keyFilter(keys()));
  const deltas = filteredDeltas(filter, onDelta);
  let touchedAt = clock.now();
  let isOver = false;
  let stopIdle: (() => void) | undefined;
  let stopEnd: (() => void) | undefined;
  // A touch costs one look at the clock: the timer is set again only when it rings.
  const mind = (idleMs: number | undefined): void => {
    if (idleMs === undefined) return;
    stopIdle = clock.wakeAt(touchedAt + idleMs, () => {
      if (clock.now() < touchedAt + idleMs) return mind(idleMs);
      isOver = true;
      abort();
    });
  };
  mind(call.idleTimeoutMs);
  return {
    signal: control.signal,
    abort,
    onDelta: deltas.onDelta,
    begin: () => {
      if (stopIdle !== undefined || control.signal.aborted) return;
      touchedAt = clock.now();
      mind(waits.idleMs);
    },
    touch: (state) => {
      touchedAt = clock.now();
      if (waits.endMs === undefined || stopEnd !== undefined || state?.finished !== true) return;
      stopEnd = clock.wakeAt(touchedAt + waits.endMs, () => {
        stopEnd = undefined;
        if (state.finished) abort();
      });
    },
    silence: () => (isOver ? idleFailure(call.idleTimeoutMs ?? waits.idleMs ?? 0) : null),
    filtered: (outcome, secrets) => {
      deltas.end();
      const shown = filter().json(outcome);
      return shown.type === "failed" || shown.finishReason === null
        ? shown
        : { ...shown, finishReason: redact(shown.finishReason, secrets) };
    },
    close: () => {
      stopIdle?.();
      stopEnd?.();
      signal.removeEventListener("abort", abort);
    },
  };
};
