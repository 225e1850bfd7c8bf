import type { Entry, LaterEntry, State } from "@colloquy/machine";
import { foldVisiting, type JournalError } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import type { TelemetryOptions } from "./attributes.ts";
import { Projection } from "./projection.ts";
import type { TelemetrySpan } from "./span.ts";

/** Selects the spans of a journal. */
export interface SpansOptions extends TelemetryOptions {
  /**
   * Includes the spans of the open turn and of a pending summary, as if they ended with the last entry. Default:
   * false.
   */
  readonly open?: boolean;
}

/**
 * Returns the spans of a journal, a trace for each turn, in the order in which turns ended. Pure, so that telemetry
 * can be created later from any recording. When the journal grows, new spans follow these, and only open ones change.
 *
 * Turns that a fork copied belong to its origin, and turns added by hand never ran: neither has spans here.
 */
export const spansOf = (
  entries: readonly Entry[],
  { open = false, ...options }: SpansOptions = {},
): Either.Either<JournalError, readonly TelemetrySpan[]> => {
  const spans: TelemetrySpan[] = [];
  let projection = new Projection(options);
  const visit = (entry: LaterEntry, before: State, after: State): void => {
    if (entry.event.type === "thread.forked") {
      projection = new Projection(options);
      spans.length = 0;
    } else for (const span of projection.entry(entry, before, after)) spans.push(span);
  };
  return Either.map((): readonly TelemetrySpan[] => (open ? [...spans, ...projection.open()] : spans))(
    foldVisiting(entries, visit),
  );
};
