import type { LlmContext, LlmDelta, LlmOutcome } from "@colloquy/host";
import { type KeyFilter, keyFilter, type KeyPieces, type KeyWalk, redact } from "@colloquy/host/runtime";
import type { CallLlm, Failure } from "@colloquy/machine";
import { retryable } from "../failure/failure.ts";
import type { Waits } from "./options.ts";

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
    silence: () =>
      isOver
        ? retryable("timeout", `the server was silent for more than ${call.idleTimeoutMs ?? waits.idleMs} ms`)
        : null,
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
 * Keys are looked for in each text of the reply, in the ids, names and arguments of its calls, and over the bounds of
 * these, however they are cut. `filterOf` gives the filter when the first piece comes: a client may fetch its key when
 * it makes a request. `end` shows what was held back, since it might have become a key.
 */
const filteredDeltas = (
  filterOf: () => KeyFilter,
  onDelta: (delta: LlmDelta) => void,
): { readonly onDelta: (delta: LlmDelta) => void; readonly end: () => void } => {
  const texts = new Map<string, Shown>();
  let walk: KeyWalk | undefined;
  return {
    onDelta: (delta) => {
      walk ??= filterOf().walk();
      const name = delta.type === "toolCall" ? `call ${delta.index}` : delta.type;
      const before = texts.get(name);
      const last = named(delta, before, walk);
      const text: Shown = { pieces: before?.pieces ?? walk.pieces(), given: delta, last };
      texts.set(name, text);
      const piece = text.pieces.push(textOf(delta));
      if (piece !== "" || delta.type === "toolCall") onDelta(withText(last, piece));
    },
    end: () => {
      for (const { pieces, last } of texts.values()) {
        const piece = pieces.end();
        if (piece !== "") onDelta(withText(last, piece));
      }
      texts.clear();
    },
  };
};

/** One text of the reply, or one call, as far as it was shown. */
interface Shown {
  readonly pieces: KeyPieces;
  /** The piece of it that came last, and what was shown of that. */
  readonly given: LlmDelta;
  readonly last: LlmDelta;
}

/** The id and the name come again with each piece, and are read only where they are new. */
const named = (delta: LlmDelta, before: Shown | undefined, { text }: KeyWalk): LlmDelta => {
  if (delta.type !== "toolCall") return delta;
  const [given, last] = [before?.given, before?.last];
  const isKnown = given?.type === "toolCall" && last?.type === "toolCall";
  return {
    ...delta,
    id: isKnown && delta.id === given.id ? last.id : delta.id === null ? null : text(delta.id),
    name: isKnown && delta.name === given.name ? last.name : text(delta.name),
  };
};

const textOf = (delta: LlmDelta): string => (delta.type === "toolCall" ? delta.arguments : delta.text);

const withText = (delta: LlmDelta, text: string): LlmDelta =>
  delta.type === "toolCall" ? { ...delta, arguments: text } : { ...delta, text };
