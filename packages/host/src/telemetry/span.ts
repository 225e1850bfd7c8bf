import { digestOf } from "@colloquy/machine";
import { names, operations } from "./conventions.ts";

/** A span, as plain data. Ids are hexadecimal, as in OpenTelemetry: 16 bytes for a trace, 8 for a span. */
export interface TelemetrySpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Null for the first span of a trace. */
  readonly parentSpanId: string | null;
  readonly operation: Operation;
  readonly name: string;
  readonly kind: "internal" | "client";
  /** In milliseconds since the epoch. */
  readonly startedAt: number;
  /** Never before `startedAt`. */
  readonly endedAt: number;
  readonly attributes: SpanAttributes;
  readonly events: readonly SpanEvent[];
  /** `error` if the attributes include `error.type`. */
  readonly status: "unset" | "error";
}

type Operation = keyof typeof operations;

/** Attributes by name; numbers are finite. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** Attributes as given; those without a value are left out. */
export type GivenAttributes = Readonly<Record<string, SpanAttributes[string] | null | undefined>>;

/** An event within a span. */
export interface SpanEvent {
  readonly name: string;
  /** In milliseconds since the epoch. */
  readonly at: number;
  readonly attributes: SpanAttributes;
}

export interface SpanDraft extends TelemetrySpan {
  name: string;
  endedAt: number;
  readonly attributes: Record<string, SpanAttributes[string]>;
  readonly events: SpanEvent[];
  status: TelemetrySpan["status"];
}

/** Begins a span. @param above null for the first span of a trace. @param place its unique place in the thread. */
export const beginSpan = (
  above: TelemetrySpan | null,
  { threadId, place }: { readonly threadId: string; readonly place: string },
  operation: Operation,
  at: number,
  attributes: GivenAttributes,
): SpanDraft => {
  const span: SpanDraft = {
    traceId: above?.traceId ?? hexOf(4, `trace ${place} ${threadId}`),
    spanId: hexOf(2, `span ${place} ${threadId}`),
    parentSpanId: above?.spanId ?? null,
    operation,
    name: operation,
    kind: operations[operation].kind,
    startedAt: at,
    endedAt: at,
    attributes: {},
    events: [],
    status: "unset",
  };
  addTo(span, {
    [names.operation]: operation,
    [names.conversation]: threadId,
    [names.session]: threadId,
    ...attributes,
  });
  return span;
};

export const addTo = ({ attributes }: SpanDraft, given: GivenAttributes): void => {
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && value !== null) attributes[name] = value;
};

/** Adds an event to a span, never before its beginning or a previous event, whatever the clocks did. */
export const happensIn = (span: SpanDraft, name: string, at: number, attributes: SpanAttributes = {}): void => {
  span.endedAt = Math.max(span.endedAt, at);
  span.events.push({ name, at: span.endedAt, attributes });
};

/** Ends a span. @param error the value of `error.type`; null for success. */
export const endSpan = (span: SpanDraft, at: number, error: string | null): TelemetrySpan => {
  const { operation, attributes } = span;
  const of = operations[operation].named.map((name) => attributes[name]).find((value) => typeof value === "string");
  span.name = of === undefined ? operation : `${operation} ${of}`;
  span.endedAt = Math.max(span.endedAt, at);
  span.status = error === null ? "unset" : "error";
  addTo(span, { [names.errorType]: error });
  return span;
};

/** Derives an id from a journal. Each word is the lower 32 bits of a digest, which are mixed best. */
const hexOf = (words: number, of: string): string => {
  let hex = "";
  for (let word = 0; word < words; word++)
    hex += (Number.parseInt(digestOf(`${word} ${of}`), 36) % 2 ** 32).toString(16).padStart(8, "0");
  return hex;
};

/** Converts a time to whole seconds and nanoseconds. It must fit into 64 bits, which end in 2554. */
export const hrTimeOf = (milliseconds: number): [seconds: number, nanoseconds: number] => {
  const time = Math.min(Math.max(milliseconds, 0), 18_446_744_073_000);
  const seconds = Math.floor(time / 1_000);
  return [seconds, Math.min(Math.round((time - seconds * 1_000) * 1e6), 999_999_999)];
};
