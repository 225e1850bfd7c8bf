export type { TelemetryOptions } from "./attributes.ts";
export type { SpanAttributes, SpanEvent, TelemetrySpan } from "./span.ts";
export { spansOf, type SpansOptions } from "./projection.ts";
