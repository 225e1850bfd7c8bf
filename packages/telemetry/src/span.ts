import { digestOf } from "@colloquy/machine";
import { names, operations } from "./conventions.ts";

/** A span, as plain data. Ids are hexadecimal, as OpenTelemetry has them: 16 bytes of a trace, 8 of a span. */
export interface TelemetrySpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Null for the span that a trace begins with. */
  readonly parentSpanId: string | null;
  readonly operation: Operation;
  readonly name: string;
  readonly kind: "internal" | "client";
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Never before `startedAt`. */
  readonly endedAt: number;
  readonly attributes: SpanAttributes;
  readonly events: readonly SpanEvent[];
  /** `error` with `error.type` among the attributes. */
  readonly status: "unset" | "error";
}

type Operation = keyof typeof operations;

/** By name; numbers are finite. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** Attributes as they are written down: those without a value are left out. */
export type GivenAttributes = Readonly<Record<string, SpanAttributes[string] | null | undefined>>;

/** Something that happened within a span. */
export interface SpanEvent {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly attributes: SpanAttributes;
}

/** Where a span stands: in the trace of a turn or a summary, under one of its places (null: it is the root), and its own. */
interface SpanPlace {
  readonly threadId: string;
  readonly trace: string;
  readonly parent: string | null;
  readonly place: string;
}

/** A span that has not ended. Nothing happens in it before it began, or after it ended, whatever clocks did. */
export class SpanDraft {
  readonly #place: SpanPlace;
  readonly #operation: Operation;
  readonly #attributes: { [name: string]: SpanAttributes[string] } = {};
  readonly #events: SpanEvent[] = [];
  readonly #startedAt: number;
  #now: number;

  constructor(place: SpanPlace, operation: Operation, startedAt: number, attributes: GivenAttributes) {
    this.#place = place;
    this.#operation = operation;
    this.#startedAt = startedAt;
    this.#now = startedAt;
    this.add({
      [names.operation]: operation,
      [names.conversation]: place.threadId,
      [names.session]: place.threadId,
      ...attributes,
    });
  }

  add(attributes: GivenAttributes): void {
    for (const [name, value] of Object.entries(attributes))
      if (value !== undefined && value !== null) this.#attributes[name] = value;
  }

  happened(name: string, at: number, attributes: SpanAttributes = {}): void {
    this.#now = Math.max(this.#now, at);
    this.#events.push({ name, at: this.#now, attributes });
  }

  /** @param error what `error.type` says; null where it ended well. */
  end(at: number, error: string | null): TelemetrySpan {
    const { threadId, trace, parent, place } = this.#place;
    this.add({ [names.errorType]: error });
    return {
      traceId: hexOf(4, "trace", threadId, trace),
      spanId: hexOf(2, "span", threadId, place),
      parentSpanId: parent === null ? null : hexOf(2, "span", threadId, parent),
      operation: this.#operation,
      name: nameOf(this.#operation, this.#attributes),
      kind: operations[this.#operation].kind,
      startedAt: this.#startedAt,
      endedAt: Math.max(this.#now, at),
      attributes: this.#attributes,
      events: this.#events,
      status: error === null ? "unset" : "error",
    };
  }
}

const nameOf = (operation: Operation, attributes: SpanAttributes): string => {
  const of = operations[operation].named.map((name) => attributes[name]).find((value) => typeof value === "string");
  return of === undefined ? operation : `${operation} ${of}`;
};

/**
 * Derived, so that a journal gives the same spans wherever and whenever it is read. Each word is the lower 32 bits of a
 * digest of its own: those that are mixed best.
 */
const hexOf = (words: number, ...of: readonly string[]): string =>
  Array.from({ length: words }, (_, word) => {
    const digest = Number.parseInt(digestOf([word, ...of]), 36);
    return (digest % 2 ** 32).toString(16).padStart(8, "0");
  }).join("");

/** A time as OpenTelemetry takes it: whole seconds, and nanoseconds. What none can say becomes the nearest: 64 bits end in 2554. */
export const hrTimeOf = (milliseconds: number): [seconds: number, nanoseconds: number] => {
  const time = Math.min(Math.max(milliseconds, 0), 18_446_744_073_000);
  const seconds = Math.floor(time / 1_000);
  return [seconds, Math.min(Math.round((time - seconds * 1_000) * 1e6), 999_999_999)];
};
