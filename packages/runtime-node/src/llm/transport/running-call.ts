import type { LlmContext, LlmDelta, LlmOutcome } from "@colloquy/host";
import { type KeyFilter, keyFilter, type KeyPieces, redact } from "@colloquy/host/runtime";
import type { CallLlm, Failure } from "@colloquy/machine";
import { retryable } from "../failure/failure.ts";

/** How long to wait for an answer. */
export interface WaitOptions {
  /**
   * The longest silence within an answer that has begun, in milliseconds, if the call has no `idleTimeoutMs` of its own.
   * Default 5 minutes; null for none. Comments, pings and empty pieces do not end the silence.
   */
  readonly idleTimeoutMs?: number | null;
  /**
   * How long to wait for the end of a stream, and for its report of usage, after the answer said why it ended, in
   * milliseconds. Default 2 seconds; null for no limit.
   */
  readonly endTimeoutMs?: number | null;
}

/** A running call. Its signal or a silence ends it, and it shows no key. */
export interface RunningCall {
  readonly signal: AbortSignal;
  readonly abort: () => void;
  readonly onDelta: (delta: LlmDelta) => void;
  /** The answer has begun: from now on the handler's own limit bounds the silence, if the call has none. */
  readonly begin: () => void;
  /** Reports a sign of life. A finished answer has `endTimeoutMs` after its last piece to end, unless another choice of it begins. */
  readonly touch: (state?: { readonly finished: boolean }) => void;
  /** Returns the failure of a silence that was too long; null if there was none. */
  readonly silence: () => Failure | null;
  /** Shows the deltas that were held back, and returns the outcome without keys and without these secrets. */
  readonly filtered: (outcome: LlmOutcome, secrets: readonly string[]) => LlmOutcome;
  readonly close: () => void;
}

/** @param keys called at the first delta: a client may fetch its key when it makes the request. */
export const runningCall = (
  call: CallLlm,
  { signal, clock, onDelta }: LlmContext,
  { idleTimeoutMs = 300_000, endTimeoutMs = 2000 }: WaitOptions,
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
  const afterSilence = (ms: number, ring: () => void): (() => void) => {
    let stop: () => void;
    const mind = (): void => {
      stop = clock.wakeAt(touchedAt + ms, () => (clock.now() < touchedAt + ms ? mind() : ring()));
    };
    mind();
    return () => stop();
  };
  const giveUp = (): void => {
    isOver = true;
    abort();
  };
  if (call.idleTimeoutMs !== undefined) stopIdle = afterSilence(call.idleTimeoutMs, giveUp);
  return {
    signal: control.signal,
    abort,
    onDelta: deltas.onDelta,
    begin: () => {
      if (stopIdle !== undefined || control.signal.aborted || idleTimeoutMs === null) return;
      touchedAt = clock.now();
      stopIdle = afterSilence(idleTimeoutMs, giveUp);
    },
    touch: (state) => {
      touchedAt = clock.now();
      if (endTimeoutMs === null || stopEnd !== undefined || state?.finished !== true) return;
      stopEnd = afterSilence(endTimeoutMs, () => {
        stopEnd = undefined;
        if (state.finished) abort();
      });
    },
    silence: () => {
      const message = `the server was silent for more than ${call.idleTimeoutMs ?? idleTimeoutMs} ms`;
      return isOver ? retryable("timeout", message) : null;
    },
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

/**
 * Takes keys out of each text of the reply, however it is cut, and out of the ids and names of its calls. `end` shows the
 * ends of texts that were held back because they might have become a key.
 */
const filteredDeltas = (filterOf: () => KeyFilter, onDelta: (delta: LlmDelta) => void) => {
  const texts = new Map<string, { readonly pieces: KeyPieces; readonly last: LlmDelta }>();
  const show = (last: LlmDelta, text: string): void =>
    onDelta(last.type === "toolCall" ? { ...last, arguments: text } : { ...last, text });
  return {
    onDelta: (delta: LlmDelta): void => {
      const filter = filterOf();
      const isCall = delta.type === "toolCall";
      const name = isCall ? `call ${delta.index}` : delta.type;
      const id = isCall && delta.id !== null ? { id: filter.text(delta.id) } : {};
      const last = isCall ? { ...delta, ...id, name: filter.text(delta.name) } : delta;
      const pieces = texts.get(name)?.pieces ?? wholeCharacters(filter.pieces());
      texts.set(name, { pieces, last });
      const piece = pieces.push(isCall ? delta.arguments : delta.text);
      if (piece !== "" || isCall) show(last, piece);
    },
    end: (): void => {
      for (const { pieces, last } of texts.values()) {
        const piece = pieces.end();
        if (piece !== "") show(last, piece);
      }
      texts.clear();
    },
  };
};

/** Holds back half of a surrogate pair at the end of a piece: an asker who writes the piece as bytes would lose it. */
const wholeCharacters = (pieces: KeyPieces): KeyPieces => {
  let half = "";
  return {
    push: (piece) => {
      const text = half + piece;
      half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : "";
      return pieces.push(half === "" ? text : text.slice(0, -1));
    },
    end: () => pieces.push(half) + pieces.end(),
  };
};
