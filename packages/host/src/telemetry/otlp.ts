import { SpanKind, SpanStatusCode, TraceFlags } from "@opentelemetry/api";
import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { hrTimeOf, type SpanAttributes, type TelemetrySpan } from "./span.ts";

export type OtlpFormat = "json" | "protobuf";

/** The header `content-type` of a request to an OTLP endpoint, for each encoding. */
export const otlpContentType = { json: "application/json", protobuf: "application/x-protobuf" } as const;

/**
 * Encodes spans as the body of one request to an OTLP endpoint for traces, such as `http://localhost:4318/v1/traces`.
 * Bodies in protobuf may be concatenated; the result is a valid body.
 *
 * @param resource the attributes of the spans' source, such as `service.name`
 */
export const otlpRequest = (
  spans: readonly TelemetrySpan[],
  { format = "json", resource = {} }: { readonly format?: OtlpFormat; readonly resource?: SpanAttributes } = {},
): Uint8Array => {
  // The serializers group spans by the identity of resource and scope, and read only the attributes of a resource.
  const of = { attributes: resource } as EncodedSpan["resource"];
  return serializers[format].serializeRequest(spans.map((span) => encoded(span, of))) ?? new Uint8Array();
};

/**
 * Returns the number of spans that an endpoint rejected, by the body of its answer, and the reason; null if it
 * accepted all. @throws Error for an invalid body
 */
export const otlpRejected = (
  body: Uint8Array,
  format: OtlpFormat = "json",
): { readonly spans: number; readonly message: string } | null => {
  const { partialSuccess } = serializers[format].deserializeResponse(body);
  // In JSON a 64-bit number is a text, whatever the type says.
  const spans = Number(partialSuccess?.rejectedSpans);
  return Number.isNaN(spans) || spans === 0 ? null : { spans, message: partialSuccess?.errorMessage ?? "" };
};

const serializers = { json: JsonTraceSerializer, protobuf: ProtobufTraceSerializer };

const instrumentationScope = { name: "@colloquy/host/telemetry" };

type EncodedSpan = Parameters<typeof JsonTraceSerializer.serializeRequest>[0][number];

const encoded = (span: TelemetrySpan, resource: EncodedSpan["resource"]): EncodedSpan => {
  const contextOf = (spanId: string) => ({ traceId: span.traceId, spanId, traceFlags: TraceFlags.SAMPLED });
  return {
    name: span.name,
    kind: span.kind === "client" ? SpanKind.CLIENT : SpanKind.INTERNAL,
    spanContext: () => contextOf(span.spanId),
    ...(span.parentSpanId === null ? {} : { parentSpanContext: contextOf(span.parentSpanId) }),
    startTime: hrTimeOf(span.startedAt),
    endTime: hrTimeOf(span.endedAt),
    duration: hrTimeOf(span.endedAt - span.startedAt),
    ended: true,
    status: { code: span.status === "error" ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes: span.attributes,
    events: span.events.map(({ name, at, attributes }) => ({ name, time: hrTimeOf(at), attributes })),
    links: [],
    resource,
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
};
