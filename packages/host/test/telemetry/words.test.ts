import { fc, test } from "@fast-check/vitest";
import { createHost, declarationsOf, type LlmOutcome, memoryStore, tool } from "@colloquy/host";
import { conversationMachine, type Entry } from "@colloquy/machine";
import { decodeJournal } from "@colloquy/machine/journal";
import { runningClock, sequentialIds } from "@colloquy/runtime-test";
import { journalArbitrary } from "@colloquy/runtime-test/arbitraries";
import { telemetryObserver } from "@colloquy/host/telemetry/live";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { expect } from "vitest";
import { rightOf, spansIn } from "./kit.ts";
import { runs } from "../../../../test/runs.ts";

/** A marker in each text that a user, a model, a server or a tool chose. */
const mark = "marked";

const marked = (...others: readonly string[]): fc.Arbitrary<string> =>
  fc.constantFrom(mark, `${mark} 7`, `gpt-4o-${mark}`, `gpt-4o${mark}`, `stop ${mark}`, ...others);

const calls = fc.array(
  fc.record({ id: marked(), name: marked("works", "fails"), arguments: marked("{}", `{"${mark}":"${mark}"}`) }),
  { minLength: 1, maxLength: 3 },
);

const outcomes: fc.Arbitrary<LlmOutcome> = fc.oneof(
  fc.record({
    type: fc.constant("completed" as const),
    reply: fc.oneof(
      marked().map((content) => ({ content })),
      marked().map((text) => ({
        content: [
          { type: "refusal" as const, text },
          { type: "reasoning" as const, text },
        ],
      })),
      calls.map((toolCalls) => ({ toolCalls })),
    ),
    finishReason: marked("stop", "tool_calls", "length"),
    model: marked("gpt-4o", "gpt-4o-2024-08-06"),
    responseId: marked(),
  }),
  fc.record({
    type: fc.constant("failed" as const),
    failure: fc.record({
      kind: fc.constantFrom("auth", "rate_limit", "unknown", "content_filter"),
      message: marked(),
      code: marked(),
      retryable: fc.boolean(),
    }),
    partial: marked().map((content) => ({ content })),
  }),
);

const anything = { jsonSchema: { type: "object" } };
const tools = [
  tool({ name: "works", description: mark, input: anything, run: () => mark }),
  tool({
    name: "fails",
    description: mark,
    input: anything,
    run: () => {
      throw new Error(mark);
    },
  }),
];

const metered = () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 30 });
  const provider = new MeterProvider({ readers: [reader] });
  return {
    meter: provider.getMeter("test"),
    exported: async (): Promise<string> => {
      await reader.forceFlush();
      const text = JSON.stringify(exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics));
      await provider.shutdown();
      return text;
    },
  };
};

/** Asks a host whose model follows a script. Returns its journal, and what its observer exported. */
const runHost = async (
  script: readonly LlmOutcome[],
  content: boolean,
): Promise<{ readonly journal: readonly Entry[]; readonly live: string }> => {
  const clock = runningClock();
  const store = memoryStore({ clock });
  const exporter = new InMemorySpanExporter();
  const tracers = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const { meter, exported } = metered();
  let made = 0;
  const host = createHost({
    machine: conversationMachine({ tools: declarationsOf(tools), model: { model: "gpt-4o" }, limits: { steps: 4 } }),
    llm: async () =>
      script[made++ % script.length] ?? { type: "completed", reply: { content: mark }, finishReason: mark },
    tools,
    thread: { system: mark, metadata: { note: mark } },
    observers: [telemetryObserver({ tracer: tracers.getTracer("test"), meter, content })],
    store,
    clock,
    ids: sequentialIds(),
  });
  for (const askId of ["1", "2"])
    await host.ask(mark, { askId, threadId: "t", metadata: { note: mark } }).catch(() => {});
  await host.close();
  const spans = exporter.getFinishedSpans().map(({ name, attributes, events }) => ({ name, attributes, events }));
  const live = `${JSON.stringify(spans)}${await exported()}`;
  return { journal: rightOf(decodeJournal(await store.read("t"))), live };
};

test.prop([fc.array(outcomes, { minLength: 1, maxLength: 5 })], { numRuns: runs(60) })(
  "no span and no metric of a host has a word of user, model, server or tool, unless content is asked for",
  async (script) => {
    const { journal, live } = await runHost(script, false);
    expect(JSON.stringify(journal)).toContain(mark);
    expect(live).toContain("invoke_agent");
    expect(live).not.toContain(mark);
    expect(JSON.stringify(spansIn(journal, { open: true }))).not.toContain(mark);
  },
);

/** Returns the journal as if its server had put the marker into every text that a server may choose. */
const ofOddServer = (entries: readonly Entry[]): readonly Entry[] =>
  entries.map((entry) => {
    const { event } = entry;
    if (event.type === "llm.completed")
      return { ...entry, event: { ...event, finishReason: mark, model: mark, responseId: mark } };
    if (event.type !== "llm.failed") return entry;
    return {
      ...entry,
      event: { ...event, model: mark, failure: { ...event.failure, message: mark, code: mark } },
    };
  });

test.prop([journalArbitrary()])("no span of any journal has a word that a server chose", (entries) => {
  expect(JSON.stringify(spansIn(ofOddServer(entries), { open: true }))).not.toContain(mark);
});

test("spans with content show what server and model chose, others only known versions, tools and reasons", async () => {
  const odd: LlmOutcome = {
    type: "completed",
    reply: {
      toolCalls: [
        { id: "1", name: "invented", arguments: "{}" },
        { id: "2", name: "works", arguments: "{}" },
      ],
    },
    finishReason: "odd",
    model: "gpt-4o-2024-08-06",
    responseId: "resp-1",
  };
  const plain: LlmOutcome = { type: "completed", reply: { content: "." }, finishReason: "stop", model: "odd-model" };
  const { journal } = await runHost([odd, plain], true);
  const shown = (content: boolean): readonly unknown[] =>
    spansIn(journal, { content })
      .filter(({ attributes }) => attributes["gen_ai.conversation.id"] === "t")
      .slice(1, 5)
      .map(({ name, attributes }) => [
        name,
        attributes["gen_ai.response.model"],
        attributes["gen_ai.response.id"],
        attributes["gen_ai.response.finish_reasons"],
      ]);
  expect(shown(false)).toEqual([
    ["chat gpt-4o", "gpt-4o-2024-08-06", undefined, ["other"]],
    ["execute_tool", undefined, undefined, undefined],
    ["execute_tool works", undefined, undefined, undefined],
    ["chat gpt-4o", undefined, undefined, ["stop"]],
  ]);
  expect(shown(true)).toEqual([
    ["chat gpt-4o", "gpt-4o-2024-08-06", "resp-1", ["odd"]],
    ["execute_tool invented", undefined, undefined, undefined],
    ["execute_tool works", undefined, undefined, undefined],
    ["chat gpt-4o", "odd-model", undefined, ["stop"]],
  ]);
});

test("without a list of tools, a called tool counts as invented if its call was answered at once", () => {
  const toolCalls = ["invented", "works"].map((name, index) => ({ id: `${index}`, name, arguments: "{}" }));
  const entries: readonly Entry[] = [
    { seq: 0, format: 2, event: { type: "thread.started", at: 0, threadId: "t" } },
    { seq: 1, event: { type: "ask.received", at: 0, askId: "a", input: "Go on." } },
    {
      seq: 2,
      event: {
        type: "llm.completed",
        at: 0,
        effectId: "t/1.1#1",
        promptDigest: "",
        reply: { toolCalls },
        finishReason: "tool_calls",
      },
      decided: { results: [{ position: 0, outcome: "failed", content: [{ type: "text", text: "unknown" }] }] },
    },
  ];
  const toolsOf = (shown: readonly Entry[]): readonly string[] =>
    spansIn(shown, { open: true }).flatMap(({ name }) => (name.startsWith("execute_tool") ? [name] : []));
  expect(toolsOf(entries)).toEqual(["execute_tool", "execute_tool works"]);
});

test("a long model name that does not end in a digit does not block the process", async () => {
  const model = `gpt-4o${"1".repeat(10_000)}x`;
  const { journal } = await runHost(
    [{ type: "completed", reply: { content: "." }, finishReason: "stop", model }],
    true,
  );
  expect(JSON.stringify(spansIn(journal, { content: false }))).not.toContain(model);
});
