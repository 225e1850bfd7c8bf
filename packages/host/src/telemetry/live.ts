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

/** The targets and options of live telemetry. */
export interface LiveOptions extends TelemetryOptions {
  /** Default: that of the global provider. */
  readonly tracer?: Tracer;
  /** Default: that of the global provider. */
  readonly meter?: Meter;
  /**
   * Returns the parent of a turn's span, such as the span of the incoming request; called when the turn opens.
   * Default: none, so each turn has its own trace.
   */
  readonly parent?: (turn: {
    readonly threadId: string;
    readonly turn: number;
    readonly askIds: readonly string[];
  }) => Context | undefined;
}

/**
 * Creates an observer of a host that sends a turn's spans to OpenTelemetry when the turn has ended. The spans have the
 * times of their entries. Durations and tokens are sent as metrics. The spans equal those of `spansOf`, except for the
 * ids, which are the tracer's. For a turn that another process began, it sends the spans that it saw, under a root
 * that begins with the turn.
 */
export const telemetryObserver = ({
  tracer = trace.getTracer(scope),
  meter = metrics.getMeter(scope),
  parent,
  ...options
}: LiveOptions = {}): Observer => {
  const threads = new Map<string, FollowedThread>();
  const record = recorder(meter);
  const give = (span: TelemetrySpan, above: Context): Context => {
    const { name, startedAt, attributes, events, status, endedAt } = span;
    const kind = span.kind === "client" ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const given = tracer.startSpan(name, { kind, startTime: hrTimeOf(startedAt), attributes }, above);
    for (const event of events) given.addEvent(event.name, event.attributes, hrTimeOf(event.at));
    if (status === "error") given.setStatus({ code: SpanStatusCode.ERROR });
    given.end(hrTimeOf(endedAt));
    const below = trace.setSpan(above, given);
    record(span, below);
    return below;
  };
  return {
    entry: (entry, threadId, { before, after }) => {
      if ("format" in entry || before === null) return;
      const known = threads.get(threadId);
      // If this is not the next entry, another host had the thread meanwhile.
      const thread: FollowedThread =
        known?.seq === entry.seq - 1
          ? known
          : { projection: new Projection(options), seq: 0, parent: undefined, roots: new Map() };
      // If an error occurs, no incomplete state is kept.
      threads.delete(threadId);
      for (const span of thread.projection.entry(entry, before, after)) {
        const above = span.operation === "invoke_agent" ? thread.parent : thread.roots.get(span.parentSpanId);
        const below = give(span, above ?? ROOT_CONTEXT);
        if (span.operation === "invoke_agent") thread.roots.set(span.spanId, below);
      }
      const { open, summarising } = after.context;
      if (open !== null && open.number !== before.context.open?.number)
        thread.parent = parent?.({ threadId, turn: open.number, askIds: open.asks.map(({ askId }) => askId) });
      // A summary may outlast its turn.
      if (summarising === null) thread.roots.clear();
      thread.seq = entry.seq;
      if (open !== null || summarising !== null) threads.set(threadId, thread);
      // Threads that other hosts took over have no further entries here.
      if (threads.size > threadsMax) threads.delete(threads.keys().next().value ?? "");
    },
  };
};

interface FollowedThread {
  readonly projection: Projection;
  seq: number;
  parent: Context | undefined;
  readonly roots: Map<string | null, Context>;
}

const scope = "@colloquy/host/telemetry";
const threadsMax = 10_000;

const recorder = (meter: Meter): ((span: TelemetrySpan, context: Context) => void) => {
  // The boundaries of the buckets are those of the conventions.
  const histogram = (name: string, unit: string, first: number, factor: number): Histogram => {
    const explicitBucketBoundaries = Array.from({ length: 14 }, (_, index) => first * factor ** index);
    return meter.createHistogram(name, { unit, advice: { explicitBucketBoundaries } });
  };
  const durations = new Map(
    Object.entries(operations).map(([operation, { duration }]) => [operation, histogram(duration, "s", 0.01, 2)]),
  );
  const tokens = [...tokenMetrics].map(([of, name]) => [of, histogram(name, "{token}", 1, 4)] as const);
  return ({ operation, attributes, startedAt, endedAt }, context) => {
    const few = Object.fromEntries(Object.entries(attributes).filter(([name]) => ofMetrics.has(name)));
    durations.get(operation)?.record((endedAt - startedAt) / 1_000, few, context);
    for (const [of, spent] of operation === "chat" ? tokens : []) {
      const value = attributes[of];
      if (typeof value === "number") spent.record(value, few, context);
    }
  };
};

const ofMetrics: ReadonlySet<string> = new Set([
  names.operation,
  names.provider,
  names.agent,
  names.requestModel,
  names.responseModel,
  names.toolName,
  names.errorType,
]);
