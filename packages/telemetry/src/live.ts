import type { Observer } from "@colloquy/host";
import {
  type Context,
  type Histogram,
  type Meter,
  metrics,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import type { TelemetryOptions } from "./attributes.ts";
import { names, operations, tokenMetrics } from "./conventions.ts";
import { Projection } from "./projection.ts";
import { hrTimeOf, type TelemetrySpan } from "./span.ts";

export type { TelemetryOptions } from "./attributes.ts";

/** Where live telemetry goes, and what it shows. */
export interface LiveOptions extends TelemetryOptions {
  /** Default: that of the global provider. */
  readonly tracer?: Tracer;
  /** Default: that of the global provider. */
  readonly meter?: Meter;
  /** Under which span a turn's is to stand, such as that of the request that asked. Called when the turn opens. Default: a trace for each turn. */
  readonly parent?: (turn: TurnAsked) => Context | undefined;
}

/** A turn that opens, and the asks that it answers. */
export interface TurnAsked {
  readonly threadId: string;
  readonly turn: number;
  readonly askIds: readonly string[];
}

/**
 * An observer of a host that gives the spans of each turn to OpenTelemetry when the turn has ended, with the times of its
 * entries, and its durations and tokens as metrics. They are those of `spansOf`, but for the ids, which are the tracer's. Of a
 * turn that another process began it gives what it saw, under a root that begins when the turn did.
 */
export const telemetryObserver = ({
  tracer = trace.getTracer(scope),
  meter = metrics.getMeter(scope),
  parent,
  ...options
}: LiveOptions = {}): Observer => {
  const threads = new Map<string, FollowedThread>();
  const record = recorder(meter);
  const give = (span: TelemetrySpan, under: Context): Context => {
    const { name, startedAt, attributes, events, status, endedAt } = span;
    const kind = span.kind === "client" ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const given = tracer.startSpan(
      name,
      { kind, startTime: hrTimeOf(startedAt), attributes: { ...attributes } },
      under,
    );
    for (const event of events) given.addEvent(event.name, { ...event.attributes }, hrTimeOf(event.at));
    if (status === "error") given.setStatus({ code: SpanStatusCode.ERROR });
    given.end(hrTimeOf(endedAt));
    record(span, trace.setSpan(under, given));
    return trace.setSpan(under, given);
  };
  return {
    entry: (entry, threadId, { before, after }) => {
      if ("format" in entry || before === null) return;
      const known = threads.get(threadId);
      // Another host had the thread meanwhile.
      const thread = known?.seq === entry.seq - 1 ? known : newThread(options);
      // Whatever goes wrong, nothing half known is gone on with.
      threads.delete(threadId);
      const spans = thread.projection.entry(entry, before, after);
      for (const span of spans) {
        const isRoot = span.parentSpanId === null;
        const under = give(span, (isRoot ? thread.parent : thread.roots.get(span.parentSpanId)) ?? ROOT_CONTEXT);
        if (isRoot) thread.roots.set(span.spanId, under);
      }
      const { open, summarising } = after.context;
      if (open !== null && open.number !== before.context.open?.number)
        thread.parent = parent?.({ threadId, turn: open.number, askIds: open.asks.map(({ askId }) => askId) });
      // A summary may outlast its turn.
      if (summarising === null) thread.roots.clear();
      if (open !== null || summarising !== null) threads.set(threadId, { ...thread, seq: entry.seq });
      // Of threads that other hosts took over nothing more is seen.
      if (threads.size > threadsMax) threads.delete(threads.keys().next().value ?? "");
    },
  };
};

interface FollowedThread {
  readonly projection: Projection;
  /** Of the newest entry that was seen. */
  readonly seq: number | null;
  /** Of the open turn. */
  parent: Context | undefined;
  /** By the ids that the projection gives them. */
  readonly roots: Map<string, Context>;
}

const newThread = (options: TelemetryOptions): FollowedThread => ({
  projection: new Projection(options),
  seq: null,
  parent: undefined,
  roots: new Map(),
});

const scope = "@colloquy/telemetry";
const threadsMax = 10_000;

/** Puts a span into the metrics: how long it took, and the tokens of an inference. */
const recorder = (meter: Meter): ((span: TelemetrySpan, context: Context) => void) => {
  // Their boundaries are those that the conventions name.
  const histogram = (name: string, unit: string, first: number, factor: number): Histogram => {
    const explicitBucketBoundaries = Array.from({ length: 14 }, (_, index) => first * factor ** index);
    return meter.createHistogram(name, { unit, advice: { explicitBucketBoundaries } });
  };
  const durations = new Map(
    Object.entries(operations).map(([operation, { duration }]) => [operation, histogram(duration, "s", 0.01, 2)]),
  );
  const tokens = Object.entries(tokenMetrics).map(([of, name]) => [of, histogram(name, "{token}", 1, 4)] as const);
  return ({ operation, attributes, startedAt, endedAt }, context) => {
    const few = Object.fromEntries(Object.entries(attributes).filter(([name]) => ofMetrics.has(name)));
    durations.get(operation)?.record((endedAt - startedAt) / 1_000, few, context);
    for (const [of, spent] of operation === "chat" ? tokens : []) {
      const value = attributes[of];
      if (typeof value === "number") spent.record(value, few, context);
    }
  };
};

/** What has few values. */
const ofMetrics: ReadonlySet<string> = new Set([
  names.operation,
  names.provider,
  names.agent,
  names.requestModel,
  names.responseModel,
  names.toolName,
  names.errorType,
]);
