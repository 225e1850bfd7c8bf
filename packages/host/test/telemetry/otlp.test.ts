import { type OtlpFormat, otlpRejected, otlpRequest } from "@colloquy/host/telemetry/otlp";
import type { TelemetrySpan } from "@colloquy/host/telemetry";
import protobuf from "protobufjs";
import { describe, expect, test } from "vitest";
import { spansIn, storedJournals } from "./kit.ts";

/** The part of opentelemetry-proto (v1.9.0) for traces, with its field numbers. */
const proto = `
syntax = "proto3";
message Request { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
message Scope { string name = 1; string version = 2; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
  fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9;
  repeated Event events = 11; Status status = 15; fixed32 flags = 16;
}
message Event { fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3; }
message Status { string message = 2; int32 code = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue {
  oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; ArrayValue array_value = 5; }
}
message ArrayValue { repeated AnyValue values = 1; }
`;

const request = protobuf.parse(proto).root.lookupType("Request");

/** Decodes both encodings to one form: bytes as hexadecimal, 64-bit numbers as text. */
const decoded = (body: Uint8Array, format: OtlpFormat): unknown =>
  format === "json"
    ? JSON.parse(new TextDecoder().decode(body), (key, value: unknown) => (key === "intValue" ? String(value) : value))
    : JSON.parse(
        JSON.stringify(
          request.toObject(request.decode(body), { longs: String, bytes: Array, defaults: true }),
          (key, value: unknown) =>
            key.endsWith("Id") ? Buffer.from(value as readonly number[]).toString("hex") : value,
        ),
      );

const valueOf = (value: TelemetrySpan["attributes"][string]): unknown => {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map((each) => ({ stringValue: each })) } };
};

const attributesOf = (attributes: TelemetrySpan["attributes"]): unknown =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));

const nanosOf = (milliseconds: number): string => String(BigInt(milliseconds) * 1_000_000n);

describe.each(["json", "protobuf"] as const)("OTLP in %s", (format) => {
  test.each(storedJournals)("is read by a stranger as what the spans are: %s", (_, entries) => {
    const spans = spansIn(entries, { content: true, open: true });
    const body = otlpRequest(spans, { format, resource: { "service.name": "tests" } });
    const expected = spans.map((span) => ({
      traceId: span.traceId,
      spanId: span.spanId,
      ...(span.parentSpanId === null ? {} : { parentSpanId: span.parentSpanId }),
      name: span.name,
      kind: span.kind === "client" ? 3 : 1,
      startTimeUnixNano: nanosOf(span.startedAt),
      endTimeUnixNano: nanosOf(span.endedAt),
      attributes: attributesOf(span.attributes),
      events: span.events.map(({ name, at, attributes }) => ({
        timeUnixNano: nanosOf(at),
        name,
        attributes: attributesOf(attributes),
      })),
      status: { code: span.status === "error" ? 2 : 0 },
    }));
    const resource = { attributes: [{ key: "service.name", value: { stringValue: "tests" } }] };
    const scopeSpans = [{ scope: { name: "@colloquy/host/telemetry" }, spans: expected }];
    expect(decoded(body, format)).toMatchObject(
      spans.length === 0 ? {} : { resourceSpans: [{ resource, scopeSpans }] },
    );
  });

  test("takes times that no clock has", () => {
    const [span] = spansIn(storedJournals[0]?.[1] ?? []);
    if (span === undefined) throw new Error("the journal has no span");
    const times = [-5, 0.25, 1e21].map((endedAt) =>
      JSON.stringify(decoded(otlpRequest([{ ...span, startedAt: -5, endedAt }], { format }), format)),
    );
    expect(times.map((text) => /"endTimeUnixNano":"(\d+)"/.exec(text)?.[1])).toEqual([
      "0",
      "250000",
      "18446744073000000000",
    ]);
  });
});

test("what an endpoint did not take is said", () => {
  const bytes = new TextEncoder().encode('{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}');
  expect(otlpRejected(bytes)).toEqual({ spans: 3, message: "too old" });
  expect(otlpRejected(Uint8Array.of(0x0a, 0x06, 0x08, 0x02, 0x12, 0x02, 0x68, 0x69), "protobuf")).toEqual({
    spans: 2,
    message: "hi",
  });
  for (const format of ["json", "protobuf"] as const) expect(otlpRejected(new Uint8Array(), format)).toBeNull();
});
