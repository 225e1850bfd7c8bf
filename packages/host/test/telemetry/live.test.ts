import { test } from "@fast-check/vitest";
import { createHost, declarationsOf, memoryStore, type Observer, tool } from "@colloquy/host";
import { conversationMachine, type Entry } from "@colloquy/machine";
import { decodeJournal, foldVisiting } from "@colloquy/machine/journal";
import { runningClock, sequentialIds } from "@colloquy/runtime-test";
import { journalArbitrary } from "@colloquy/runtime-test/arbitraries";
import { fails, reply, type ScriptLine, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { type LiveOptions, telemetryObserver } from "@colloquy/host/telemetry/live";
import type { TelemetrySpan } from "@colloquy/host/telemetry";
import { type Attributes, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Tracer } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { describe, expect } from "vitest";
import { observed, rightOf, spansIn, storedJournals } from "./kit.ts";
import { spread } from "../../../../test/runs.ts";

interface Recorded {
  readonly observer: Observer;
  readonly spans: () => readonly ReadableSpan[];
}

const recorded = (options: LiveOptions = {}): Recorded => {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
    spanLimits: { attributeCountLimit: 1_000, eventCountLimit: 1_000 },
  });
  return {
    observer: telemetryObserver({ tracer: provider.getTracer("test"), ...options }),
    spans: () => exporter.getFinishedSpans(),
  };
};

const timeOf = ([seconds, nanoseconds]: readonly [number, number]): number => seconds * 1e3 + nanoseconds / 1e6;

/** Replaces the tracer's random ids: names a parent by its place in the list. */
const ofLive = (spans: readonly ReadableSpan[]): readonly unknown[] =>
  spans.map((span) => ({
    name: span.name,
    kind: span.kind === SpanKind.CLIENT ? "client" : "internal",
    parent: spans.findIndex((other) => other.spanContext().spanId === span.parentSpanContext?.spanId),
    trace: spans.findIndex((other) => other.spanContext().traceId === span.spanContext().traceId),
    startedAt: timeOf(span.startTime),
    endedAt: timeOf(span.endTime),
    attributes: span.attributes,
    events: span.events.map(({ name, time, attributes }) => ({ name, at: timeOf(time), attributes })),
    status: span.status.code === SpanStatusCode.ERROR ? "error" : "unset",
  }));

const ofJournal = (spans: readonly TelemetrySpan[]): readonly unknown[] =>
  spans.map(({ name, kind, parentSpanId, traceId, startedAt, endedAt, attributes, events, status }) => ({
    name,
    kind,
    parent: spans.findIndex(({ spanId }) => spanId === parentSpanId),
    trace: spans.findIndex((other) => other.traceId === traceId),
    startedAt,
    endedAt,
    attributes,
    events,
    status,
  }));

const weather = tool({
  name: "weather",
  description: "The weather.",
  input: { jsonSchema: { type: "object" } },
  run: () => "Rain.",
});

const hosted = (observer: Observer, script: readonly ScriptLine[]) => {
  const clock = runningClock();
  const store = memoryStore({ clock });
  const errors: unknown[] = [];
  const host = createHost({
    machine: conversationMachine({ tools: declarationsOf([weather]), model: { model: "gpt-4o", api_key: "canary" } }),
    llm: scriptedModel(script),
    tools: [weather],
    store,
    clock,
    ids: sequentialIds(),
    observers: [observer],
    onObserverError: (error) => errors.push(error),
  });
  return { host, store, clock, errors };
};

const script = (): readonly ScriptLine[] => [
  fails({ kind: "overloaded", retryable: true }),
  toolCalls(
    [
      { name: "weather", arguments: { city: "Oslo" } },
      { name: "weather", arguments: { city: "Bergen" } },
    ],
    { usage: { inputTokens: 10, outputTokens: 4 } },
  ),
  reply("It rains.", { usage: { inputTokens: 30, outputTokens: 5 }, model: "gpt-4o-2024" }),
];

type Shown = readonly { readonly attributes: TelemetrySpan["attributes"] | Attributes }[];

const interruptedIn = (spans: Shown): readonly unknown[] =>
  spans.flatMap(({ attributes }) =>
    attributes["error.type"] === "interrupted" ? [attributes["gen_ai.tool.call.id"]] : [],
  );

test("a process that takes over a step in the middle records the tools that are still out, from the start of the turn", () => {
  const [, entries = []] = storedJournals.find(([name]) => name === "parallel-tools") ?? [];
  const { observer, spans } = recorded();
  observed(observer, entries, entries.findIndex(({ event }) => event.type === "llm.completed") + 1);
  // Whether their names were offered is not known here.
  expect(
    spans()
      .map(({ name, startTime }) => `${name} ${timeOf(startTime)}`)
      .toSorted(),
  ).toEqual(["chat 6", "execute_tool 1", "execute_tool 1", "execute_tool 1", "invoke_agent 1"]);
});

test.each<[string, string, string, readonly string[]]>([
  ["that were started", "unknown-outcome", "tool.started", ["pay", "pay"]],
  ["that wait for an approval", "approvals", "tool.withheld", ["delete_file", "delete_file"]],
  ["of the caller, or that will need one", "caller-tools", "llm.completed", ["delete_file", "ask_user"]],
])("a process that takes over a step in the middle names the tools of calls %s", (_, name, type, named) => {
  const [, entries = []] = storedJournals.find(([other]) => other === name) ?? [];
  const { observer, spans } = recorded();
  const first = entries.findIndex(({ event }) => event.type === type);
  observed(observer, entries, first + entries.slice(first).findIndex(({ event }) => event.type !== type));
  const names = spans().flatMap(({ attributes }) =>
    String(attributes["gen_ai.tool.call.id"]).startsWith("1.1.") ? (attributes["gen_ai.tool.name"] ?? []) : [],
  );
  expect(names).toEqual(named);
});

test("a live observer follows ten thousand threads with open turns, and forgets the one that was quiet longest", () => {
  const [, entries = []] = storedJournals.find(([name]) => name === "parallel-tools") ?? [];
  const { observer, spans } = recorded();
  const steps: ((threadId: string) => void)[] = [];
  foldVisiting(entries, (entry, before, after) => {
    steps.push((threadId) => observer.entry?.(entry, threadId, { before, after }));
  });
  const show = (threadId: string, from: number, to: number): void => {
    for (const step of steps.slice(from, to)) step(threadId);
  };
  /** Ends the turn of a thread. Returns the number of its spans. */
  const end = (threadId: string, from: number): number => {
    const before = spans().length;
    show(threadId, from, steps.length);
    return spans().length - before;
  };
  const whole = end("ended", 0);
  show("quietest", 0, 3);
  show("lively", 0, 2);
  show("quiet", 0, 3);
  show("lively", 2, 3);
  for (let other = 1; other <= 9_997; other++) show(`${other}`, 0, 1);
  expect(end("quietest", 3)).toBe(whole);
  for (const other of ["9998", "9999"]) show(other, 0, 1);
  expect(end("lively", 3)).toBe(whole);
  expect(end("quiet", 3)).toBeLessThan(whole);
});

describe("a live observer", () => {
  const isAProjection = (entries: readonly Entry[]): void => {
    const own = entries.findLastIndex(({ event }) => event.type === "thread.forked") + 1;
    const live = recorded({ content: true });
    // Entries that a fork copied are not observed.
    observed(live.observer, entries, own);
    expect(ofLive(live.spans())).toEqual(ofJournal(spansIn(entries, { content: true })));
  };

  test.prop([journalArbitrary()])("gives the spans that the journal gives, attribute by attribute", isAProjection);
  test.each(storedJournals)("gives the spans that the journal gives: %s", (_, entries) => isAProjection(entries));

  test("gives them from a host, in which nothing else happens", async () => {
    const live = recorded();
    const { host, store, errors } = hosted(live.observer, script());
    expect((await host.ask("Does it rain?", { threadId: "t" })).text).toBe("It rains.");
    await host.close();
    const spans = spansIn(rightOf(decodeJournal(await store.read("t"))));
    expect(spans.map(({ name }) => name)).toEqual([
      "invoke_agent",
      "chat gpt-4o",
      "execute_tool weather",
      "execute_tool weather",
      "chat gpt-4o",
    ]);
    expect(ofLive(live.spans())).toEqual(ofJournal(spans));
    expect(errors).toEqual([]);
  });

  test("says that an answer is to be JSON, and of one that never was why its turn failed", async () => {
    const live = recorded();
    const { host } = hosted(live.observer, [reply("none"), reply("none either")]);
    const output = { name: "sky", schema: { jsonSchema: { type: "object" } }, repairs: 1 } as const;
    await expect(host.ask("Does it rain?", { threadId: "t", output })).rejects.toThrow("the output is not valid");
    expect(live.spans().map(({ attributes }) => [attributes["gen_ai.output.type"], attributes["error.type"]])).toEqual([
      [undefined, "output_invalid"],
      ["json", undefined],
      ["json", undefined],
    ]);
  });

  test("stands under the span that it is given for a turn", async () => {
    const above = trace.setSpanContext(ROOT_CONTEXT, {
      traceId: "1".repeat(32),
      spanId: "2".repeat(16),
      traceFlags: 1,
    });
    const live = recorded({
      parent: ({ threadId, askIds }) => (threadId === "t" && askIds.includes("one") ? above : undefined),
    });
    const { host } = hosted(live.observer, script());
    await host.ask("Does it rain?", { threadId: "t", askId: "one" });
    expect(new Set(live.spans().map((span) => span.spanContext().traceId))).toEqual(new Set(["1".repeat(32)]));
    expect(live.spans()[0]?.parentSpanContext?.spanId).toBe("2".repeat(16));
  });

  test("whose tracer throws is reported, and costs no ask and no other turn", async () => {
    const exporter = new InMemorySpanExporter();
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
    const tracer = provider.getTracer("test");
    let calls = 0;
    const startSpan: Tracer["startSpan"] = (...given) => {
      if (++calls === 1) throw new Error("no room");
      return tracer.startSpan(...given);
    };
    const observer = telemetryObserver({ tracer: { startSpan, startActiveSpan: tracer.startActiveSpan.bind(tracer) } });
    const { host, errors } = hosted(observer, [reply("one"), reply("two")]);
    expect((await host.ask("1", { threadId: "t" })).text).toBe("one");
    expect(errors.map(String)).toEqual(["Error: no room"]);
    expect((await host.ask("2", { threadId: "t" })).text).toBe("two");
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(["invoke_agent", "chat gpt-4o"]);
  });

  test("gives a summary between turns a trace of its own, whatever a turn stands under", () => {
    const live = recorded({
      parent: ({ turn }) =>
        trace.setSpanContext(ROOT_CONTEXT, { traceId: "1".repeat(32), spanId: String(turn).repeat(16), traceFlags: 1 }),
    });
    const [, entries = []] = storedJournals.find(([name]) => name === "compaction") ?? [];
    observed(live.observer, entries);
    const summaries = live.spans().filter(({ attributes }) => attributes["colloquy.summary.number"] !== undefined);
    expect(summaries.map(({ parentSpanContext }) => parentSpanContext)).toEqual([undefined, undefined]);
    const roots = live.spans().filter(({ name }) => name === "invoke_agent");
    expect(roots.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual([
      "1".repeat(16),
      "2".repeat(16),
      "3".repeat(16),
      "4".repeat(16),
    ]);
  });

  test.each(spread(storedJournals, 8))(
    "that misses some of a thread gives whole trees of the turns whose end it sees: %s",
    (_, entries) => {
      const turnsIn = (
        spans: readonly { readonly name: string; readonly attributes: TelemetrySpan["attributes"] | Attributes }[],
      ) =>
        spans.filter(({ name }) => name === "invoke_agent").map(({ attributes }) => attributes["colloquy.turn.number"]);
      const own = entries.findLastIndex(({ event }) => event.type === "thread.forked") + 1;
      const endedBefore = (length: number) => turnsIn(length <= own ? [] : spansIn(entries.slice(0, length)));
      for (let from = own + 1; from < entries.length; from++) {
        const until = own + Math.floor((from - own) / 2);
        const live = recorded();
        observed(live.observer, entries, own, until);
        observed(live.observer, entries, from);
        const spans = live.spans();
        const ids = new Set(spans.map((span) => span.spanContext().spanId));
        const children = spans.filter(({ parentSpanContext }) => parentSpanContext !== undefined);
        expect(children.filter(({ parentSpanContext }) => !ids.has(parentSpanContext?.spanId ?? ""))).toEqual([]);
        const seen = [...endedBefore(until), ...endedBefore(entries.length).slice(endedBefore(from).length)];
        expect(turnsIn(spans)).toEqual(seen);
        const whole = interruptedIn(spansIn(entries));
        expect(interruptedIn(spans).filter((callId) => !whole.includes(callId))).toEqual([]);
      }
    },
  );
});

const sumOf = (value: unknown): number =>
  typeof value === "object" && value !== null && "sum" in value ? Number(value.sum) : 0;

test("durations and tokens are metrics, of few attributes", async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  const live = recorded({ meter: provider.getMeter("test"), agent: "meteorologist" });
  const { host } = hosted(live.observer, script());
  await host.ask("Does it rain?", { threadId: "t" });
  await provider.forceFlush();
  const metrics = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  const points = metrics.flatMap(({ descriptor, dataPoints }) =>
    dataPoints.map(({ attributes, value }) => [descriptor.name, descriptor.unit, attributes, value] as const),
  );
  expect(points.map(([name, unit]) => `${name} ${unit}`)).toMatchInlineSnapshot(`
    [
      "gen_ai.invoke_agent.duration s",
      "gen_ai.client.inference.duration s",
      "gen_ai.client.inference.duration s",
      "gen_ai.execute_tool.duration s",
      "gen_ai.client.inference.operation.input_tokens {token}",
      "gen_ai.client.inference.operation.input_tokens {token}",
      "gen_ai.client.inference.operation.output_tokens {token}",
      "gen_ai.client.inference.operation.output_tokens {token}",
    ]
  `);
  const totalOf = (name: string): number =>
    points.reduce((sum, [of, , , value]) => sum + (of === name ? sumOf(value) : 0), 0);
  const spent = live.spans().map(({ name, startTime, endTime }) => ({
    name,
    seconds: (timeOf(endTime) - timeOf(startTime)) / 1_000,
  }));
  const spentBy = (operation: string): number =>
    spent.reduce((sum, { name, seconds }) => sum + (name.startsWith(operation) ? seconds : 0), 0);
  expect(spentBy("invoke_agent")).toBeGreaterThan(0);
  expect(totalOf("gen_ai.invoke_agent.duration")).toBeCloseTo(spentBy("invoke_agent"), 9);
  expect(totalOf("gen_ai.client.inference.duration")).toBeCloseTo(spentBy("chat"), 9);
  expect(totalOf("gen_ai.client.inference.operation.input_tokens")).toBe(40);
  expect(totalOf("gen_ai.client.inference.operation.output_tokens")).toBe(9);
  const input = points.filter(([name]) => name.endsWith("input_tokens"));
  expect(input.map(([, , attributes]) => attributes)).toMatchInlineSnapshot(`
    [
      {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
      },
      {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.response.model": "gpt-4o-2024",
      },
    ]
  `);
  expect(JSON.stringify(points)).not.toContain("canary");
  // The boundaries are those of the conventions of OpenTelemetry.
  const boundariesOf = (unit: string) =>
    points.flatMap(([, of, , value]) =>
      of === unit && typeof value === "object" && "buckets" in value ? [value.buckets.boundaries] : [],
    );
  const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
  const tokens = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];
  expect(boundariesOf("s")).toEqual(Array.from({ length: 4 }, () => seconds));
  expect(boundariesOf("{token}")).toEqual(Array.from({ length: 4 }, () => tokens));
  await provider.shutdown();
});
